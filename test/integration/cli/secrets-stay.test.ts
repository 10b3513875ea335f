import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { EXIT, type Terminal } from '../../../src/cli/terminal.ts';
import { memoryTerminal } from '../../support/agent/memory-terminal.ts';
import { eventually } from '../../support/eventually.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { HEADER_KINDS, leaksOf, secretOf } from '../../support/samples/secret-leaks.ts';
import { servedBy } from '../../support/servers/http-servers.ts';

const SECRETS = {
  TOKEN: secretOf('TOKEN', HEADER_KINDS),
  FROM_ENV: secretOf('FROM_ENV', HEADER_KINDS),
};
const NAMES = Object.keys(SECRETS);
const ALL = Object.values(SECRETS).join(' ');
const MASK = '********';

/** Sends the request back with an error status. */
const echo: RequestListener = (request, response) => {
  response.writeHead(500, { 'x-echo': String(request.headers['x-token']) });
  response.end(`Cannot ${request.method} ${request.url}: ${ALL}`);
};

function write(name: string, text: string): string {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  writeFileSync(folder.file(name), text);
  return folder.file(name);
}

/** Every ten seconds: of many, spread by their ids, one is due very soon. */
function checkFile(target: string, checks = 1): string {
  const common = {
    ...{ checkType: 'API', doubleCheck: false, frequency: 0, frequencyOffset: 10 },
    request: {
      url: `${target}/${NAMES.map((name) => `{{${name}}}`).join('/')}`,
      headers: [{ key: 'x-token', value: '{{TOKEN}}' }],
      assertions: [{ source: 'TEXT_BODY', comparison: 'EQUALS', target: 'x' }],
    },
  };
  const variables = [{ key: 'TOKEN', value: SECRETS.TOKEN, secret: true }];
  const all = Array.from({ length: checks }, (_, n) => ({ id: `shop-${n}`, ...common }));
  return write('checks.json', JSON.stringify({ variables, checks: all }));
}

const ENV = {
  NO_COLOR: '1',
  LOG_LEVEL: 'debug',
  VARIABLES_FROM_ENV: 'FROM_ENV',
  FROM_ENV: SECRETS.FROM_ENV,
};

/** A terminal (TTY), with everything that was printed to it. */
function watched(change: (terminal: Terminal) => Terminal = (same) => same) {
  const { terminal, stdout, stderr } = memoryTerminal({ isTTY: true, columns: 200 });
  const exits: number[] = [];
  return {
    terminal,
    stderr,
    exits,
    shown: () => ({ stdout: Buffer.from(stdout()), stderr: Buffer.from(stderr()) }),
    run: (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
      runProgram(args, change({ ...terminal, env: { ...ENV, ...env } }), (code) => {
        exits.push(code);
      }),
  };
}

it.each(['pretty', 'json'])('vedette run prints and sends no secret (%s)', async (output) => {
  const bodies: Buffer[] = [];
  const service = await servedBy(async (request, response) => {
    bodies.push(await buffer(request));
    response.writeHead(201, { 'content-type': 'application/json' }).end('{}');
  });
  const { run, shown } = watched();
  const file = checkFile(await servedBy(echo));
  const env = { SERVICE_URL: service, API_KEY: `vk_${'1'.repeat(32)}` };
  const args = ['run', file, '--output', output, '--report', '--project', 'shop'];
  expect(await run(args, env)).toBe(EXIT.failed);
  const sent = { report: Buffer.concat(bodies) };
  expect(leaksOf(SECRETS, { ...shown(), ...sent })).toEqual([]);
  expect(String(sent.report)).toContain(`Cannot GET /${MASK}/${MASK}: ${MASK} ${MASK}`);
  expect(String(shown().stdout)).toContain(MASK);
});

it('vedette run prints no secret when it crashes, and reports the crash', async () => {
  const fault = Object.assign(new TypeError(`Invalid URL ${ALL}`), { input: ALL });
  const target = await servedBy(() => void terminal.signals.emit('uncaughtException', fault));
  const { terminal, run, shown, stderr } = watched();
  expect(await run(['run', checkFile(target)])).toBe(EXIT.internal);
  expect(stderr()).toContain(
    `a fault of Vedette itself; please report it err="Invalid URL ${MASK}`,
  );
  expect(leaksOf(SECRETS, shown())).toEqual([]);
});

it('vedette run prints no secret if its own code throws', async () => {
  const { run, shown, stderr } = watched((terminal) => {
    const stdout = Object.assign(Object.create(terminal.stdout), {
      write() {
        throw new TypeError(`not to be written: ${ALL}`);
      },
    });
    return { ...terminal, stdout };
  });
  const file = checkFile(await servedBy(echo));
  expect(await run(['run', file, '--output', 'json'])).toBe(EXIT.internal);
  expect(stderr()).toMatch(/a fault of Vedette; please report it .*err="not to be written: \*{8}/);
  expect(await run(['run', file])).toBe(EXIT.internal);
  expect(stderr()).toMatch(/vedette: internal error: not to be written: \*{8}.*; please report/);
  expect(stderr()).toMatch(/^TypeError: not to be written: \*{8}/m);
  expect(leaksOf(SECRETS, shown())).toEqual([]);
});

it('vedette agent prints no secret in its log, nor when it crashes', async () => {
  const { terminal, run, shown, stderr, exits } = watched();
  const file = checkFile(await servedBy(echo), 40);
  const ended = run(['agent'], { CHECKS_FILE: file, AGENT_HEALTH_PORT: '0' });
  await eventually(() => stderr().includes('checks loaded'));
  const { length } = shown().stdout;
  await eventually(() => shown().stdout.length > length);
  terminal.signals.emit('uncaughtException', new TypeError(`no ${ALL}`));
  expect(await ended).toBe(EXIT.internal);
  expect(exits).toEqual([EXIT.internal]);
  expect(stderr()).toMatch(/ FATAL a fault of Vedette itself; please report it err="no \*{8}/);
  expect(String(shown().stdout)).toContain(`Cannot GET /${MASK}`);
  expect(leaksOf(SECRETS, shown())).toEqual([]);
});
