/**
 * The script of /docs/api: the search, the copying of commands, and "try it". Browsers get it as
 * /docs/api.js, so that the policy of the page needs no inline script. The key stays in the variable of
 * its input: it is neither stored nor put into an address. All texts are added as text, never as HTML.
 */
export const API_PAGE_SCRIPT = `'use strict';
(() => {
  const all = [...document.querySelectorAll('details.operation')];
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // Search
  const tools = document.getElementById('api-tools');
  const search = make('input', { id: 'api-search', type: 'search', autocomplete: 'off', placeholder: 'For example: check results' });
  const found = make('span', { className: 'found', role: 'status' });
  const key = make('input', { id: 'api-key', type: 'password', autocomplete: 'off', spellcheck: false, placeholder: 'vk_…' });
  tools.append(
    make('div', {}, make('label', { htmlFor: 'api-search', textContent: 'Find an operation' }), search, found),
    make('div', {}, make('label', { htmlFor: 'api-key', textContent: 'API key for “Try it”' }), key,
      make('small', { textContent: 'Kept on this page only, until you leave it.' })),
  );
  tools.hidden = false;
  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\\s+/).filter((word) => word !== '');
    let count = 0;
    for (const operation of all) {
      const text = (operation.querySelector('summary').textContent + ' ' + operation.dataset.tag).toLowerCase();
      operation.hidden = !words.every((word) => text.includes(word));
      if (!operation.hidden) count += 1;
    }
    for (const section of document.querySelectorAll('article > section')) {
      const own = [...section.querySelectorAll('details.operation')];
      section.hidden = words.length > 0 && own.every(({ hidden }) => hidden);
    }
    found.textContent = words.length === 0 ? '' : count === 1 ? '1 operation' : count + ' operations';
  });

  // Opens the operation that a link points to, for browsers that do not do this themselves.
  const openTarget = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const operation = target === null ? null : target.closest('details');
    if (operation === null) return;
    operation.hidden = false;
    operation.open = true;
    target.scrollIntoView();
  };
  addEventListener('hashchange', openTarget);
  openTarget();

  // Copy, and try it
  for (const operation of all) {
    operation.addEventListener('toggle', () => {
      if (!operation.open || operation.dataset.ready !== undefined) return;
      operation.dataset.ready = '';
      const command = operation.querySelector('pre.curl');
      if (command === null) return;
      const said = make('span', { role: 'status' });
      const copy = make('button', { type: 'button', className: 'button', textContent: 'Copy' });
      copy.addEventListener('click', () => {
        const done = navigator.clipboard === undefined ? Promise.reject() : navigator.clipboard.writeText(command.textContent);
        done.then(
          () => { said.textContent = 'Copied'; },
          () => {
            getSelection().selectAllChildren(command);
            said.textContent = 'Selected: copy with Ctrl+C';
          },
        );
      });
      command.after(make('div', { className: 'buttons' }, copy, said), formOf(operation));
    });
  }

  function formOf(operation) {
    const { method, path, body } = operation.dataset;
    const prefix = 'try-' + all.indexOf(operation) + '-';
    const form = make('form', { className: 'try' }, make('h3', { textContent: 'Try it' }));
    const inputs = [];
    for (const cell of operation.querySelectorAll('[data-parameter]')) {
      const [place, name] = [cell.dataset.in, cell.dataset.parameter];
      if (!['path', 'query', 'header'].includes(place)) continue;
      const input = make('input', { id: prefix + name, autocomplete: 'off', required: place === 'path' });
      inputs.push({ place, name, input });
      form.append(make('label', { htmlFor: input.id, textContent: name }), input);
    }
    const text = make('textarea', { id: prefix + 'body', rows: 8, spellcheck: false });
    if (body !== undefined) {
      text.value = JSON.stringify(JSON.parse(body), null, 2);
      form.append(make('label', { htmlFor: text.id, textContent: 'Body' }), text);
    }
    const send = make('button', { className: 'button primary', textContent: 'Send ' + method.toUpperCase() });
    const status = make('p', { role: 'status' });
    const answer = make('pre', { hidden: true, tabIndex: 0 });
    form.append(make('div', { className: 'buttons' }, send), status, answer);
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      answer.hidden = true;
      if (operation.dataset.key !== undefined && key.value.trim() === '') {
        status.textContent = 'Enter an API key at the top of the page first.';
        key.focus();
        return;
      }
      let filled = path;
      const query = new URLSearchParams();
      const headers = { accept: 'application/json' };
      for (const { place, name, input } of inputs) {
        if (place === 'header' && input.value !== '') headers[name] = input.value;
        else if (place === 'path') filled = filled.replace('{' + name + '}', encodeURIComponent(input.value));
        else if (place === 'query' && input.value !== '') query.append(name, input.value);
      }
      if (operation.dataset.key !== undefined) headers.authorization = 'Bearer ' + key.value.trim();
      if (body !== undefined) headers['content-type'] = 'application/json';
      send.disabled = true;
      status.textContent = 'Waiting for the service …';
      try {
        const response = await fetch('..' + filled + (query.size > 0 ? '?' + query : ''), {
          method: method.toUpperCase(),
          headers,
          body: body === undefined ? undefined : text.value,
          credentials: 'omit',
          redirect: 'error',
          cache: 'no-store',
        });
        const received = await response.text();
        status.textContent = response.status + ' ' + response.statusText;
        answer.textContent = pretty(received);
        answer.hidden = received === '';
      } catch (error) {
        status.textContent = 'No answer: ' + error.message;
      } finally {
        send.disabled = false;
      }
    });
    return form;
  }

  function pretty(text) {
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return text;
    }
  }
})();
`;
