import { createHash, createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { newSandbox, Sandbox } from '../../../../src/agent/scripts/sandbox.ts';
import type {
  FetchReply,
  FromWorker,
  ScriptEnd,
  ScriptInput,
} from '../../../../src/agent/scripts/script-protocol.ts';

const INPUT: ScriptInput = {
  request: {
    url: 'https://shop.example/orders',
    method: 'POST',
    headers: [
      ['accept', 'text/plain'],
      ['x-tag', 'one'],
      ['x-tag', 'two'],
    ],
    query: [['page', '1']],
    body: '{"a":1}',
  },
  response: null,
  variables: [['NAME', 'Anna']],
};

interface Ran {
  readonly end: ScriptEnd;
  readonly messages: readonly FromWorker[];
}

/** Runs a script in this thread, with these responses to `fetch`. */
async function run(
  source: string,
  input: Partial<ScriptInput> = {},
  fetched: FetchReply = { ok: false, problem: 'nobody answers' },
): Promise<Ran> {
  const module = await newSandbox();
  const messages: FromWorker[] = [];
  return await new Promise((resolve) => {
    const sandbox = new Sandbox(module, (message) => {
      messages.push(message);
      if (message.kind === 'ended') resolve({ end: message.end, messages });
      if (message.kind === 'fetch') setImmediate(() => sandbox.fetched(message.id, fetched));
    });
    sandbox.start({
      kind: 'start',
      source,
      fileName: 'setup.js',
      input: { ...INPUT, ...input },
    });
  });
}

/** The lines that a script logged. */
function logged({ messages }: Ran): readonly string[] {
  return messages.flatMap((each) => (each.kind === 'log' ? [each.text] : []));
}

function failed({ end }: Ran) {
  if (end.kind !== 'failed') throw new Error(`it ended with ${JSON.stringify(end)}`);
  return end;
}

it('a script changes its request', async () => {
  const { end } = await run(`
    request.headers['x-signed'] = 'yes';
    delete request.headers.accept;
    request.query.page = 2;
    request.method = 'PUT';
    request.body = request.body.replace('1', '2');
  `);
  expect(end).toEqual({
    kind: 'passed',
    result: {
      request: {
        url: 'https://shop.example/orders',
        method: 'PUT',
        headers: [
          ['x-tag', 'one'],
          ['x-tag', 'two'],
          ['x-signed', 'yes'],
        ],
        query: [['page', '2']],
        body: '{"a":2}',
      },
      variables: [],
    },
  });
});

it('fields that a script leaves as they are keep their order', async () => {
  const query = [
    ['b', '1'],
    ['a', '2'],
    ['b', '3'],
    ['7', '4'],
  ] as const;
  const headers = [
    ['x-one', '1'],
    ['x-two', '2'],
    ['x-one', '3'],
  ] as const;
  const source = `console.log(request.query.b.length); request.headers['x-three'] = '4'`;
  const { end } = await run(source, { request: { ...INPUT.request, headers, query } });
  expect(end).toMatchObject({
    result: {
      request: {
        query,
        headers: [
          ['x-one', '1'],
          ['x-one', '3'],
          ['x-two', '2'],
          ['x-three', '4'],
        ],
      },
    },
  });
});

it('a script may await at its top level, and gets the responses to its own requests', async () => {
  const response = {
    status: 200,
    headers: [['Content-Type', 'application/json']] as const,
    body: '{"token":"t-1"}',
    isBodyCut: false,
    responseTime: 3,
  };
  const ran = await run(
    `const response = await fetch('https://login.example/', { method: 'post', body: new URLSearchParams({ a: 'b c' }) });
     console.log(response.ok, response.status, response.headers.get('content-type'));
     variables.set('TOKEN', (await response.json()).token);`,
    {},
    { ok: true, response },
  );
  expect(logged(ran)).toEqual(['true 200 application/json']);
  expect(ran.messages).toContainEqual({
    kind: 'fetch',
    id: 1,
    request: {
      url: 'https://login.example/',
      method: 'POST',
      headers: [['Content-Type', 'application/x-www-form-urlencoded']],
      query: [],
      body: 'a=b+c',
    },
  });
  expect(ran.end).toMatchObject({
    result: { variables: [{ name: 'TOKEN', value: 't-1', isPublic: false }] },
  });
});

it('a request that fails throws in the script', async () => {
  const ran = await run(
    `try { await fetch('https://x.example/') } catch (error) { console.warn(error) }`,
  );
  expect(logged(ran)).toEqual(['TypeError: fetch failed: nobody answers']);
});

it('a value is announced as a secret before it can be logged, unless it is public', async () => {
  const { messages } = await run(`
    variables.set('A', 'hidden');
    console.log(variables.get('A'), variables.get('NAME'), variables.get('none'));
    variables.setPublic('B', 'shown');
  `);
  expect(messages.slice(0, -1)).toEqual([
    { kind: 'secret', value: 'hidden' },
    { kind: 'log', level: 'info', text: 'hidden Anna undefined' },
  ]);
});

it('a script has hashes, encodings and URLs', async () => {
  const ran = await run(`
    const bytes = new TextEncoder().encode('grün');
    console.log(crypto.hash('sha256', 'grün'), crypto.hash('SHA-1', bytes, 'base64'));
    console.log(crypto.hmac('sha256', 'key', bytes, 'base64url'));
    console.log(new TextDecoder().decode(crypto.hash('md5', 'a', 'bytes')).length > 0);
    console.log(btoa('a\\u00ff'), atob('YQ=='), new TextDecoder().decode(bytes));
    console.log(crypto.randomBytes(8).length, crypto.randomUUID() === crypto.randomUUID());
    const url = new URL('/b?x=1', 'https://a.example/');
    url.searchParams.append('y', 'ä b');
    url.port = 8443;
    console.log(url.href, url.searchParams.get('x'), URL.canParse('no'));
  `);
  const [hashes, hmac, decoded, encoded, random, url] = logged(ran);
  const sha256 = createHash('sha256').update('grün').digest('hex');
  expect(hashes).toBe(`${sha256} ${createHash('sha1').update('grün').digest('base64')}`);
  expect(hmac).toBe(createHmac('sha256', 'key').update('grün').digest('base64url'));
  expect([decoded, encoded, random]).toEqual(['true', 'Yf8= a grün', '8 false']);
  expect(url).toBe('https://a.example:8443/b?x=1&y=%C3%A4+b 1 false');
});

it('the message of a failed script has its line', async () => {
  expect(failed(await run(`\n\nthrow new RangeError('too far');`))).toMatchObject({
    code: 'SCRIPT_FAILED',
    message: 'RangeError: too far',
    line: 3,
  });
  expect(failed(await run(`const a = 1;\nconst = 2;`))).toMatchObject({
    message: expect.stringContaining('SyntaxError'),
    line: 2,
  });
  expect(failed(await run(`await null;\nawait Promise.reject('plain')`)).message).toBe('plain');
});

it('a recursion without an end is an error of the script, not of its sandbox', async () => {
  expect(failed(await run(`const a = () => a() + 1; a()`))).toMatchObject({
    code: 'SCRIPT_FAILED',
    isBroken: false,
  });
});

it('a script that waits for something that never happens fails', async () => {
  const { message } = failed(await run(`await new Promise(() => {})`));
  expect(message).toBe('The script waits for a promise that nothing will settle');
});

it('the teardown gets the response', async () => {
  const response = {
    status: 201,
    headers: [['x-id', '7']] as const,
    body: '{"id":7}',
    isBodyCut: false,
    responseTime: 12.5,
  };
  const ran = await run(
    `console.log(response.status, response.headers['x-id'], response.headers.get('X-ID'), JSON.parse(response.body).id, response.responseTime)`,
    { response },
  );
  expect(logged(ran)).toEqual(['201 7 7 7 12.5']);
});

it.each([
  [
    'the globals of Node',
    `console.log(typeof process, typeof require, typeof Buffer, typeof setTimeout)`,
  ],
  [
    'the host behind a function',
    `console.log(console.log.constructor('return typeof process')(), typeof globalThis.process, 'x', 'x')`,
  ],
])('a script does not see %s', async (_, source) => {
  const [line = ''] = logged(await run(source));
  expect(line.replaceAll('x', 'undefined')).toBe('undefined undefined undefined undefined');
});

it('a script cannot load a module', async () => {
  expect(failed(await run(`import fs from 'node:fs';`)).code).toBe('SCRIPT_FAILED');
  expect(failed(await run(`await import('node:fs');`)).code).toBe('SCRIPT_FAILED');
});

it('a request of any form reaches the main thread with a bounded number of values', async () => {
  const many = `{ map: () => new Array(200_000).fill([]) }`;
  const source = `
    const odd = Object.assign([], ${many});
    fetch('https://x.example/', { headers: odd }).catch(() => {});
    request.headers = odd;
    request.query = Object.assign([], { map: () => [['a', 'b', 'c'], [{}, 'd'], ['e', 'f'], 7] });`;
  const { end, messages } = await run(source);
  const headers = new Array(101).fill(null);
  expect(messages).toMatchObject([{ kind: 'fetch', request: { headers } }, { kind: 'ended' }]);
  const query = [null, [null, 'd'], ['e', 'f'], null];
  expect(end).toMatchObject({ kind: 'passed', result: { request: { headers, query } } });
});

it('what a script sets and logs is bounded', async () => {
  const many = await run(`for (let n = 0; n < 10_000; n += 1) console.log(n, 'x'.repeat(20_000))`);
  expect(logged(many)).toHaveLength(50);
  expect(logged(many)[0]).toHaveLength(10_000);
  const sets = await run(`for (let n = 0; ; n += 1) variables.set('A' + n, 'x')`);
  expect(failed(sets).message).toContain('at most 100 times');
  const fetches = await run(
    `await Promise.all(Array.from({ length: 1000 }, () => fetch('https://x.example/')))`,
  );
  expect(fetches.messages.filter(({ kind }) => kind === 'fetch').length).toBeLessThanOrEqual(10);
  expect(failed(fetches).code).toBe('SCRIPT_FAILED');
});
