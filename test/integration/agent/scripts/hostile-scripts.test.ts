import { expect, it } from 'vitest';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import type { RunFixture } from '../../../support/agent/run-fixture.ts';
import { scriptFixture } from '../../../support/agent/script-fixture.ts';
import { eventually } from '../../../support/eventually.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { agentSecretsOf } from '../../../support/samples/secrets.ts';
import { servedBy } from '../../../support/servers/http-servers.ts';

const ONCE = { retryStrategy: null };
const SECRET = 'planted-secret-value';

/** Each script with what its check gets; null passes. They have half a second. */
const ENDLESS: Readonly<Record<string, string>> = {
  'loops without an end': `for (;;);`,
  'raises a BigInt to a power': `let n = 3n; for (;;) n = n ** 50_000n % 7n ** 40_000n;`,
  'searches in huge texts': `const a = 'a'.repeat(8_000_000); for (;;) a.indexOf('a'.repeat(4_000_000) + 'b');`,
  'has a pattern that backtracks': `/^(a+)+$/.test('a'.repeat(60) + 'b')`,
  'runs microtasks for ever': `const again = () => Promise.resolve().then(again); await again();`,
  'has a getter that loops': `Object.defineProperty(request, 'url', { get() { for (;;); } })`,
  'has a toJSON that loops': `Object.prototype.toJSON = () => { for (;;); };`,
  'loops in a Proxy': `request = new Proxy({}, { get() { for (;;); } })`,
  'sorts for ever': `for (;;) Array.from({ length: 1e5 }, Math.random).sort(() => Math.random() - 0.5)`,
  'catches its own end': `for (;;) { try { for (;;); } catch {} finally { continue; } }`,
};

/** Most of the memory at once: taking all of it in small parts needs seconds of CPU. */
const HELD = 'const held = [new Uint8Array(6e7)];';

const MEMORY: Readonly<Record<string, string>> = {
  'allocates without an end': `${HELD} for (;;) held.push(new Array(1000).fill(held.length));`,
  'doubles a text': `let text = 'ab'; for (;;) text = [text, text].join(text.length);`,
  'takes a huge buffer': `new Uint8Array(1e9)`,
  'makes promises without an end': `${HELD} for (;;) held.push(new Promise(() => {}), {});`,
};

const FAILED: Readonly<Record<string, string>> = {
  'recurses without an end': `const a = () => a() + 1; a()`,
  'recurses in JSON': `let a = []; for (let n = 0; n < 1e5; n += 1) a = [a]; JSON.stringify(a)`,
  'loads a module': `await import('node:child_process')`,
  'imports a file': `import secret from '/etc/passwd'`,
  'asks for the process': `process.exit(1)`,
  'escapes by a constructor': `console.log.constructor('return process')().exit(1)`,
  'escapes by an error': `try { null.a } catch (error) { error.constructor.constructor('return process')().exit(1) }`,
  'escapes by eval': `(0, eval)('process.exit(1)')`,
  'escapes by an async function': `await (async () => {}).constructor('process.exit(1)')()`,
  'has a getter that throws': `Object.defineProperty(request, 'body', { get() { throw new Error('no') } })`,
  'has traps that throw': `request = new Proxy(request, { get() { throw null; } }); throw new Proxy({}, { get() { throw 1 } })`,
  'makes thousands of requests': `await Promise.all(Array.from({ length: 5_000 }, () => fetch('http://127.0.0.1:9/')))`,
  'asks for a file': `await fetch('file:///etc/passwd')`,
  'throws a secret': `throw new Error('it is ' + variables.get('SECRET'))`,
  'makes a request that has no form': `request.headers = 7`,
};

/** Scripts that stay within their rights and have no effect. */
const HARMLESS: Readonly<Record<string, string>> = {
  'pollutes prototypes': `Object.prototype.url = 'http://127.0.0.1:9/'; Array.prototype[Symbol.iterator] ??= 1; Object.prototype.isPublic = true; ({}).__proto__.code = 'x'; variables.set('A', 'polluted-value'); console.log('A', variables.get('A'))`,
  'logs without an end': `for (let n = 0; n < 1e4; n += 1) console.log('x'.repeat(5_000))`,
  'logs a secret': `console.log(variables.get('SECRET'), [...variables.get('SECRET')].length, { a: variables.get('SECRET') })`,
};

async function fixtureWith(limitMs: number): Promise<RunFixture & { readonly url: string }> {
  const secrets = await agentSecretsOf({ key: 'SECRET', value: SECRET, secret: true });
  const url = await servedBy((_, response) => void response.end('fine'));
  return { ...(await scriptFixture({ limitMs, parts: { secrets } })), url };
}

/** Enough for a script that is run beside much else. */
const LONG_MS = 120_000;

/** Runs a check for each script, and innocent ones beside them. */
async function outcomes(limitMs: number, scripts: Readonly<Record<string, string>>) {
  const fixture = await fixtureWith(limitMs);
  const { url } = fixture;
  const hostile = Object.entries(scripts).map(([id, setupScript]) =>
    fixture.run(checkOf('API', { ...ONCE, id, request: { url }, setupScript })),
  );
  const innocent = Array.from({ length: 20 }, (_, n) =>
    fixture.run(checkOf('URL', { ...ONCE, id: `innocent ${n}`, request: { url } })),
  );
  await Promise.all(innocent);
  const beside = fixture.results.filter(({ checkId }) => checkId.startsWith('innocent'));
  expect(beside).toHaveLength(innocent.length);
  expect(beside.filter(({ hasFailures, hasErrors }) => hasFailures || hasErrors)).toEqual([]);
  await Promise.all(hostile);
  expect(fixture.missed).toEqual([]);
  expect(JSON.stringify(fixture.results)).not.toContain(SECRET);
  const others = fixture.results.filter(({ checkId }) => !checkId.startsWith('innocent'));
  return Object.fromEntries(others.map((result) => [result.checkId, codeOf(result)]));
}

function codeOf({ hasFailures, apiCheckResult }: CheckResult): string | null {
  const code = apiCheckResult?.requestErrorCode ?? null;
  return hasFailures ? code : code === null ? null : `${code}, but no failure`;
}

const all = (scripts: Readonly<Record<string, string>>, code: string | null) =>
  Object.fromEntries(Object.keys(scripts).map((id) => [id, code]));

it('a script that does not end is ended (trust model SN24)', async () => {
  expect(await outcomes(500, ENDLESS)).toEqual(all(ENDLESS, 'SCRIPT_TIMEOUT'));
});

it('no check without scripts waits for scripts that do not end (trust model SN24)', async () => {
  let begun = 0;
  const url = await servedBy((request, response) => {
    if (request.url === '/begun') begun += 1;
    response.end('fine');
  });
  const fixture = await scriptFixture({ workers: 2 });
  const stop = new AbortController();
  const setupScript = `await fetch('${url}/begun'); for (;;);`;
  const hostile = Array.from({ length: 4 }, (_, n) =>
    fixture.run(
      checkOf('API', { ...ONCE, id: `hostile ${n}`, request: { url }, setupScript }),
      stop.signal,
    ),
  );
  // Both workers are busy from now on, and two scripts wait for one.
  await eventually(() => begun === 2);
  const innocent = Array.from({ length: 20 }, (_, n) =>
    fixture.run(checkOf('URL', { ...ONCE, id: `innocent ${n}`, request: { url } })),
  );
  await Promise.all(innocent);
  const ended = fixture.results.map(({ checkId, hasFailures, hasErrors }) => {
    return { isInnocent: checkId.startsWith('innocent'), hasFailures, hasErrors };
  });
  const passed = { isInnocent: true, hasFailures: false, hasErrors: false };
  expect(ended).toEqual(innocent.map(() => passed));
  stop.abort();
  await Promise.all(hostile);
  expect(fixture.missed.map(({ reason }) => reason)).toEqual(hostile.map(() => 'agent_stopped'));
});

it('a script that takes too much memory is ended', { timeout: 2 * LONG_MS }, async () => {
  expect(await outcomes(LONG_MS, MEMORY)).toEqual(all(MEMORY, 'SCRIPT_MEMORY'));
});

it('a script that tries to leave its sandbox fails (trust model SN9)', {
  timeout: 2 * LONG_MS,
}, async () => {
  expect(await outcomes(LONG_MS, FAILED)).toEqual(all(FAILED, 'SCRIPT_FAILED'));
});

it('a script that logs and pollutes all it can discloses nothing', {
  timeout: 2 * LONG_MS,
}, async () => {
  expect(await outcomes(LONG_MS, HARMLESS)).toEqual(all(HARMLESS, null));
});
