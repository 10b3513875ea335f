/**
 * The globals of a script, in JavaScript that runs in the sandbox before the script. The bridge
 * consists of three functions with texts (JSON) as arguments and results; no object of the host is
 * reachable from the sandbox. A script that replaces anything defined here only harms itself.
 *
 * The code is a function of `call(name, json)`, `send(json)` and `ask(json)` (a promise), and of
 * the input as JSON; it returns the functions that the host calls.
 */
export const PRELUDE = String.raw`
(function (call, send, ask, inputText) {
  'use strict';
  const { parse, stringify } = JSON;
  const input = parse(inputText);
  const own = (name, ...args) => parse(call(name, stringify(args)));
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });

  const binary = (bytes) => {
    let text = '';
    for (const byte of bytes) text += String.fromCharCode(byte);
    return text;
  };
  const bytesFrom = (text) => Uint8Array.from(text, (each) => each.charCodeAt(0));
  const viewed = (data) =>
    data instanceof ArrayBuffer
      ? new Uint8Array(data)
      : ArrayBuffer.isView(data)
        ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
        : null;
  const dataOf = (data) => {
    const bytes = viewed(data);
    return bytes === null ? ['text', String(data)] : ['bytes', binary(bytes)];
  };

  // Several values of one name are an array.
  const fieldsOf = (pairs) => {
    const fields = {};
    for (const [name, value] of pairs) {
      const known = Object.hasOwn(fields, name) ? fields[name] : undefined;
      const next = known === undefined ? value : [].concat(known, value);
      Object.defineProperty(fields, name, {
        value: next, writable: true, enumerable: true, configurable: true,
      });
    }
    return fields;
  };
  const pairsOf = (fields, what) => {
    if (typeof fields !== 'object' || fields === null) throw new TypeError(what + ' must be an object');
    if (Array.isArray(fields)) return fields.map(([name, value]) => [String(name), String(value)]);
    return Object.entries(fields).flatMap(([name, value]) => {
      if (value === undefined || value === null) return [];
      return (Array.isArray(value) ? value : [value]).map((each) => [name, String(each)]);
    });
  };
  const headersOf = (pairs) => {
    const headers = fieldsOf(pairs);
    Object.defineProperty(headers, 'get', {
      value: (name) => {
        const wanted = String(name).toLowerCase();
        const found = pairs.filter(([each]) => each.toLowerCase() === wanted);
        return found.length === 0 ? null : found.map(([, value]) => value).join(', ');
      },
    });
    return headers;
  };

  // An object of fields loses the order of repeated names: fields that the script did not change
  // are sent in their own order.
  const asObject = (pairs) => stringify(pairsOf(fieldsOf(pairs), 'fields'));
  const given = { headers: asObject(input.request.headers), query: asObject(input.request.query) };
  const leftPairs = (name) => {
    const pairs = pairsOf(globalThis.request[name], 'request.' + name);
    return stringify(pairs) === given[name] ? input.request[name] : pairs;
  };

  define('request', {
    url: input.request.url,
    method: input.request.method,
    headers: fieldsOf(input.request.headers),
    query: fieldsOf(input.request.query),
    body: input.request.body,
  });
  const responseOf = ({ headers, ...response }) => ({ ...response, headers: headersOf(headers) });
  define('response', input.response === null ? null : Object.freeze(responseOf(input.response)));

  const values = new Map(input.variables);
  const set = (isPublic) => (name, value) => {
    send(stringify({ kind: 'set', name: String(name), value: String(value), isPublic }));
    values.set(String(name), String(value));
  };
  define('variables', {
    get: (name) => values.get(String(name)),
    has: (name) => values.has(String(name)),
    set: set(false),
    setPublic: set(true),
  });

  const shown = (value) => {
    try {
      if (typeof value === 'string') return value;
      if (value instanceof Error) return value.name + ': ' + value.message;
      if (typeof value === 'object' && value !== null) return stringify(value) ?? String(value);
      return String(value);
    } catch {
      return '(a value that cannot be shown)';
    }
  };
  const log = (level) => (...args) => {
    send(stringify({ kind: 'log', level, text: args.map(shown).join(' ') }));
  };
  define('console', {
    log: log('info'), info: log('info'), debug: log('info'), warn: log('warn'), error: log('error'),
  });

  class URLSearchParams {
    #pairs = [];
    #changed = () => {};
    constructor(init = '', changed = () => {}) {
      this.#pairs =
        init instanceof URLSearchParams
          ? [...init]
          : typeof init === 'object' && init !== null
            ? pairsOf(init, 'the parameters')
            : own('readQuery', String(init));
      this.#changed = changed;
    }
    append(name, value) {
      this.#pairs.push([String(name), String(value)]);
      this.#changed(this);
    }
    delete(name) {
      this.#pairs = this.#pairs.filter(([each]) => each !== String(name));
      this.#changed(this);
    }
    get(name) {
      return this.#pairs.find(([each]) => each === String(name))?.[1] ?? null;
    }
    getAll(name) {
      return this.#pairs.filter(([each]) => each === String(name)).map(([, value]) => value);
    }
    has(name) {
      return this.#pairs.some(([each]) => each === String(name));
    }
    set(name, value) {
      const at = this.#pairs.findIndex(([each]) => each === String(name));
      const others = this.#pairs.filter(([each], index) => each !== String(name) || index === at);
      if (at === -1) others.push([String(name), String(value)]);
      else others[at] = [String(name), String(value)];
      this.#pairs = others;
      this.#changed(this);
    }
    sort() {
      this.#pairs.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
      this.#changed(this);
    }
    forEach(each) {
      for (const [name, value] of this.#pairs) each(value, name, this);
    }
    *entries() {
      for (const [name, value] of this.#pairs) yield [name, value];
    }
    *keys() {
      for (const [name] of this.#pairs) yield name;
    }
    *values() {
      for (const [, value] of this.#pairs) yield value;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    toString() {
      return own('writeQuery', this.#pairs);
    }
  }

  class URL {
    #parts;
    #params = null;
    constructor(url, base) {
      this.#parts = own('url', String(url), base === undefined ? null : String(base));
    }
    static canParse(url, base) {
      try {
        new URL(url, base);
        return true;
      } catch {
        return false;
      }
    }
    get origin() {
      return this.#parts.origin;
    }
    get searchParams() {
      this.#params ??= new URLSearchParams(this.#parts.search, (params) => {
        this.#parts = own('changeUrl', this.#parts.href, 'search', params.toString());
      });
      return this.#params;
    }
    part(name) {
      return this.#parts[name];
    }
    change(name, value) {
      this.#parts = own('changeUrl', this.#parts.href, name, String(value));
      this.#params = null;
    }
    toString() {
      return this.#parts.href;
    }
    toJSON() {
      return this.#parts.href;
    }
  }
  const { part, change } = URL.prototype;
  delete URL.prototype.part;
  delete URL.prototype.change;
  for (const name of ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']) {
    Object.defineProperty(URL.prototype, name, {
      get() {
        return part.call(this, name);
      },
      set(value) {
        change.call(this, name, value);
      },
      configurable: true,
    });
  }
  define('URL', URL);
  define('URLSearchParams', URLSearchParams);

  define('TextEncoder', class TextEncoder {
    encode(text = '') {
      return bytesFrom(own('encode', String(text)));
    }
  });
  define('TextDecoder', class TextDecoder {
    decode(data = new Uint8Array()) {
      const bytes = viewed(data);
      if (bytes === null) throw new TypeError('TextDecoder decodes bytes only');
      return own('decode', binary(bytes));
    }
  });
  define('btoa', (text) => {
    if (/[^\u0000-\u00ff]/.test(String(text))) {
      throw new TypeError('btoa takes the characters 0 to 255 only: encode text by TextEncoder');
    }
    return own('toBase64', String(text));
  });
  define('atob', (text) => own('fromBase64', String(text)));

  const digest = (encoding, made) => (encoding === 'bytes' ? bytesFrom(made('binary')) : made(encoding));
  define('crypto', {
    hash: (name, data, encoding = 'hex') =>
      digest(encoding, (each) => own('hash', name, dataOf(data), each)),
    hmac: (name, key, data, encoding = 'hex') =>
      digest(encoding, (each) => own('hmac', name, dataOf(key), dataOf(data), each)),
    randomBytes: (count) => bytesFrom(own('randomBytes', count)),
    randomUUID: () => own('randomUUID'),
  });

  define('fetch', async (url, { method = 'GET', headers = {}, body } = {}) => {
    const sent = {
      url: String(url),
      method: String(method).toUpperCase(),
      headers: pairsOf(headers, 'headers'),
      query: [],
      body: body === undefined || body === null ? '' : String(body),
    };
    const isForm = body instanceof URLSearchParams;
    if (isForm && !sent.headers.some(([name]) => name.toLowerCase() === 'content-type')) {
      sent.headers.push(['Content-Type', 'application/x-www-form-urlencoded']);
    }
    const answer = parse(await ask(stringify(sent)));
    const { body: text, responseTime, ...response } = responseOf(answer);
    return {
      ...response,
      ok: response.status >= 200 && response.status < 300,
      text: async () => text,
      json: async () => parse(text),
    };
  });

  return {
    finish() {
      const { url, method, body } = globalThis.request;
      return stringify({
        url: String(url),
        method: String(method),
        headers: leftPairs('headers'),
        query: leftPairs('query'),
        body: body === undefined || body === null ? '' : String(body),
      });
    },
    describe(error) {
      const isObject = typeof error === 'object' && error !== null;
      const read = (name) => {
        try {
          return isObject ? String(error[name] ?? '') : '';
        } catch {
          return '';
        }
      };
      return stringify({
        name: read('name'),
        message: isObject ? read('message') : shown(error),
        stack: read('stack'),
      });
    },
  };
})
`;
