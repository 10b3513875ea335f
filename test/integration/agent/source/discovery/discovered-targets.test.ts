import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { TargetDocument } from '../../../../../src/agent/config/targets-from.ts';
import type { CheckListener, CheckSet } from '../../../../../src/agent/source/check-source.ts';
import { withDiscoveredTargets } from '../../../../../src/agent/source/discovery/discovered-targets.ts';
import type { Check } from '../../../../../src/model/check/check.ts';
import { NO_PROXIES } from '../../../../../src/runtime/net/proxy/choose-proxy.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeClock, settle } from '../../../../support/fake-clock.ts';
import { captureLog } from '../../../../support/log-capture.ts';
import { makeTempFolder } from '../../../../support/process/temp-folder.ts';
import { checkOf } from '../../../../support/samples/checks.ts';

const FILE_PERIOD_MS = 10_000;
const SETTLE_MS = 1_000;
const FIRST_LIMIT_MS = 10_000;
const URL_PERIOD_MS = 60_000;
const WORKER = new URL(
  '../../../../../dist/agent/source/discovery/target-worker.js',
  import.meta.url,
);
const MODULE = checkOf('URL', { id: 'shops', name: 'Shop' });
const OTHER = checkOf('TCP', { id: 'db' });

const setOf = (checks: readonly Check[]): CheckSet => ({
  checks,
  clientCertificates: [],
  rotations: new Map(),
  location: 'local',
  unanswered: new Map(),
  variables: [],
  proxyUrl: null,
  pauses: [],
  groupTags: new Map(),
});

/** A source with documents of targets for checks, by default for `shops`. Ends with the test. */
function discovering(
  documents: readonly (TargetDocument & { readonly checkId?: string })[],
  given: { readonly maxChecks?: number; readonly workerUrl?: URL } = {},
) {
  const clock = new FakeClock();
  const { log, records } = captureLog();
  const sets: CheckSet[] = [];
  let give: (...checks: Check[]) => void = () => {};
  const file = {
    checkFileUsable: true,
    watch: ({ onChecks }: CheckListener, signal: AbortSignal) => {
      give = (...checks) => onChecks(setOf(checks));
      return once(signal, 'abort').then(() => {});
    },
  };
  const rules = documents.map(({ checkId = 'shops', ...document }) => ({ checkId, document }));
  const parts = { rules, proxies: NO_PROXIES, clock, log, version: '1' };
  const options = { ...parts, workerUrl: WORKER, ...given };
  const stop = new AbortController();
  const listener = {
    onChecks: (set: CheckSet) => void sets.push(set),
    onRun() {},
    onRunCancelled() {},
    onTrial() {},
  };
  const ended = withDiscoveredTargets(file, options).watch(listener, stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await ended;
    expect(clock.pendingTimers).toBe(0);
  });
  const namesNow = (): readonly string[] => sets.at(-1)?.checks.map(({ name }) => name) ?? [];
  /** Lets changed files be the same for long enough, until the condition holds. */
  const settled = async (condition: () => boolean): Promise<void> => {
    while (!condition()) {
      const isSettling = (clock.nextTimerInMs ?? SETTLE_MS + 1) <= SETTLE_MS;
      if (isSettling) await clock.advance(SETTLE_MS);
      else await settle();
    }
  };
  const isLogged = (text: string) => (): boolean =>
    records().some((record) => JSON.stringify(record).includes(text));
  return {
    clock,
    records,
    isLogged,
    sets,
    settled,
    give: (...of: Check[]) => give(...of),
    namesNow,
  };
}

/** Answers each request as given; returns its address. Ends with the test. */
async function listening(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function tempFolder(): string {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  return folder.path;
}

it('files make checks that replace the one that names them, and follow their changes', async () => {
  const folder = join(tempFolder(), 'targets');
  await mkdir(folder);
  await writeFile(join(folder, 'one.json'), '[{"targets": ["a.test"], "labels": {"team": "x"}}]');
  await writeFile(join(folder, 'other.txt'), 'not read');
  const path = join(folder, '*.json');
  const { clock, sets, give, settled, namesNow } = discovering([{ kind: 'file', path }]);
  give(MODULE, OTHER);
  await settled(() => sets.length > 0);
  expect(namesNow()).toEqual(['db', 'Shop a.test']);
  expect(sets[0]?.checks[1]?.tags).toEqual(['team:x']);

  await writeFile(join(folder, 'two.json'), '[{"targets": ["b.test"]}]');
  await clock.advance(FILE_PERIOD_MS);
  await settled(() => sets.length === 2);
  expect(namesNow()).toEqual(['db', 'Shop a.test', 'Shop b.test']);
  expect(sets[1]?.checks[1]).toBe(sets[0]?.checks[1]);

  // The file changes, and the targets do not.
  give(MODULE);
  await eventually(() => sets.length === 3);
  expect(namesNow()).toEqual(['Shop a.test', 'Shop b.test']);
});

it('a file is taken once it was the same for a second, not while it is written', async () => {
  const path = join(tempFolder(), 'targets.yml');
  await writeFile(path, '- targets:\n  - a.test\n  - b.te');
  const { clock, sets, give, settled, namesNow } = discovering([{ kind: 'file', path }]);
  give(MODULE);
  await eventually(() => clock.nextTimerInMs === SETTLE_MS);
  await writeFile(path, '- targets:\n  - a.test\n  - b.test\n');
  await settled(() => sets.length > 0);
  expect(namesNow()).toEqual(['Shop a.test', 'Shop b.test']);
});

it('the checks start after 10 s, even while a file keeps changing', async () => {
  const path = join(tempFolder(), 'targets.yml');
  await writeFile(path, '- targets: [a.test]\n');
  const { clock, sets, give, settled, namesNow } = discovering([{ kind: 'file', path }]);
  give(MODULE, OTHER);
  for (let ms = 0; ms < FIRST_LIMIT_MS; ms += SETTLE_MS) {
    await eventually(() => clock.nextTimerInMs === SETTLE_MS);
    await writeFile(path, `- targets: [a.test${ms}]\n`);
    await clock.advance(SETTLE_MS);
  }
  await settled(() => sets.length === 2);
  expect(sets[0]?.checks).toEqual([OTHER]);
  expect(namesNow()).toEqual(['db', 'Shop a.test9000']);
});

it.each([
  ['is gone', '*.yml', (path: string) => rm(path)],
  ['is gone', 'targets.yml', (path: string) => rm(path)],
  ['is empty', 'targets.yml', (path: string) => writeFile(path, '')],
  ['is wrong', 'targets.yml', (path: string) => writeFile(path, '{')],
])(
  'a document that %s (%s) leaves the last targets, and the log says why',
  async (_what, name, change) => {
    const folder = tempFolder();
    const written = join(folder, 'targets.yml');
    await writeFile(written, '- targets: [a.test]\n');
    const path = join(folder, name);
    const { clock, sets, give, settled, namesNow, isLogged } = discovering([
      { kind: 'file', path },
    ]);
    give(MODULE);
    await settled(() => sets.length > 0);
    await change(written);
    await clock.advance(FILE_PERIOD_MS);
    await settled(isLogged('cannot be read'));
    give(MODULE);
    await eventually(() => sets.length === 2);
    expect(namesNow()).toEqual(['Shop a.test']);
  },
);

it('a pipe without a writer delays no checks', async () => {
  const folder = tempFolder();
  execFileSync('mkfifo', [join(folder, 'targets.yml')]);
  const path = join(folder, '*.yml');
  const { sets, give, settled, namesNow, isLogged } = discovering([{ kind: 'file', path }]);
  give(MODULE, OTHER);
  await settled(() => sets.length > 0);
  expect(namesNow()).toEqual(['db']);
  await eventually(isLogged('is not a regular file'));
});

it('many documents for several checks are watched, without a warning of a leak', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const folder = tempFolder();
  const documents = Array.from({ length: 12 }, (_one, at) => ({
    checkId: at % 2 === 0 ? 'shops' : 'db',
    kind: 'file' as const,
    path: join(folder, `${at}.json`),
  }));
  for (const [at, { path }] of documents.entries()) {
    // Two documents of a check may name the same target.
    await writeFile(path, `[{"targets": ["${at}.test:80", "all.test:80"]}]`);
  }
  const { sets, give, settled, namesNow, isLogged } = discovering(documents);
  give(MODULE, OTHER);
  await settled(() => namesNow().length === 14);
  expect(new Set(sets.at(-1)?.checks.map(({ id }) => id)).size).toBe(14);
  expect(isLogged('makes no check')()).toBe(false);
  expect(warnings).toEqual([]);
});

it('a target with a password makes no check, and is not shown', async () => {
  const path = join(tempFolder(), 'targets.json');
  await writeFile(path, '[{"targets": ["b.test", "https://ann:hunter2@a.test/"]}]');
  const { sets, give, settled, namesNow, records, isLogged } = discovering([
    { kind: 'file', path },
  ]);
  give(MODULE);
  await settled(() => sets.length > 0);
  expect(namesNow()).toEqual(['Shop b.test']);
  await eventually(isLogged('a target makes no check'));
  expect(records()).toContainEqual(expect.objectContaining({ document: path, at: '0.targets.1' }));
  expect(isLogged('hunter2')()).toBe(false);
});

it('the first targets make checks, up to a limit', async () => {
  const path = join(tempFolder(), 'targets.json');
  await writeFile(path, '[{"targets": ["a.test", "b.test", "c.test"]}]');
  const rules = [{ kind: 'file', path } as const];
  const { sets, give, settled, namesNow, isLogged } = discovering(rules, { maxChecks: 2 });
  give(MODULE);
  await settled(() => sets.length > 0);
  expect(namesNow()).toEqual(['Shop a.test', 'Shop b.test']);
  await eventually(isLogged('only the first 2 targets'));
});

it('long documents are parsed in a thread, and only those that changed', async () => {
  const folder = tempFolder();
  const long = (target: string) => `- targets: [${target}]\n${'# A comment.\n'.repeat(400)}`;
  await writeFile(join(folder, 'a.yml'), long('a.test'));
  await writeFile(join(folder, 'b.yml'), long('b.test'));
  const rules = [{ kind: 'file', path: join(folder, '*.yml') } as const];
  const real = discovering(rules);
  real.give(MODULE);
  await real.settled(() => real.sets.length > 0);
  expect(real.namesNow()).toEqual(['Shop a.test', 'Shop b.test']);

  // Each target names how many texts its thread got.
  const stub = `import { parentPort, workerData } from 'node:worker_threads';
    const { texts } = workerData;
    const reply = (_text, at) => [{ targets: [at + '-of-' + texts.length + '.test'], labels: {} }];
    parentPort.postMessage(texts.map(reply));`;
  const workerUrl = new URL(`data:text/javascript,${encodeURIComponent(stub)}`);
  const { clock, sets, give, settled, namesNow } = discovering(rules, { workerUrl });
  give(MODULE);
  await settled(() => sets.length > 0);
  expect(namesNow()).toEqual(['Shop 0-of-2.test', 'Shop 1-of-2.test']);
  await writeFile(join(folder, 'b.yml'), long('other.test'));
  await clock.advance(FILE_PERIOD_MS);
  await settled(() => sets.length > 1);
  expect(namesNow()).toEqual(['Shop 0-of-2.test', 'Shop 0-of-1.test']);
});

it('a document that changes without changing a check passes nothing on', async () => {
  const answers = [
    [{ targets: ['a.test', 'b.test'] }],
    [{ targets: ['b.test', 'a.test'], labels: { __meta_seen: '12:00' } }],
    [{ targets: ['c.test'] }],
  ];
  const origin = await listening((_request, response) => {
    response.end(JSON.stringify(answers.shift()));
  });
  const { clock, sets, give, namesNow } = discovering([{ kind: 'url', url: new URL(origin) }]);
  give(MODULE);
  for (const left of [1, 0]) {
    await eventually(() => clock.nextTimerInMs === URL_PERIOD_MS);
    await clock.advance(URL_PERIOD_MS);
    await eventually(() => answers.length === left);
  }
  await eventually(() => namesNow().includes('Shop c.test'));
  expect(sets).toHaveLength(2);
});

it('targets are fetched by HTTP each minute, and a key in the address is not logged', async () => {
  const requests: unknown[] = [];
  let status = 200;
  let targets = ['a.test'];
  const origin = await listening(({ headers }, response) => {
    requests.push(headers['x-prometheus-refresh-interval-seconds']);
    response.writeHead(status).end(JSON.stringify([{ targets }]));
  });
  const url = new URL(`${origin}/targets?token=secret-word`);
  const { clock, sets, give, namesNow, isLogged } = discovering([{ kind: 'url', url }]);
  give(MODULE);
  await eventually(() => sets.length > 0);
  expect(namesNow()).toEqual(['Shop a.test']);
  expect(requests).toEqual(['60']);

  targets = ['b.test'];
  await eventually(() => clock.nextTimerInMs === URL_PERIOD_MS);
  await clock.advance(URL_PERIOD_MS);
  await eventually(() => sets.length === 2);
  expect(namesNow()).toEqual(['Shop b.test']);

  status = 500;
  await eventually(() => clock.nextTimerInMs === URL_PERIOD_MS);
  await clock.advance(URL_PERIOD_MS);
  await eventually(isLogged(`${origin}/targets answered 500`));
  expect(isLogged('secret-word')()).toBe(false);
});

it('documents of one server do not wait for each other', async () => {
  const held: ServerResponse[] = [];
  const origin = await listening((_request, response) => {
    held.push(response);
    if (held.length === 2) for (const one of held) one.end('[{"targets": ["a.test"]}]');
  });
  const { sets, give, namesNow } = discovering(
    ['/one', '/two'].map((path) => ({ kind: 'url', url: new URL(path, origin) })),
  );
  give(MODULE);
  await eventually(() => sets.length > 0);
  expect(namesNow()).toEqual(['Shop a.test']);
});
