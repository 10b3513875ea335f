import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { TargetDocument } from '../../../../../src/agent/config/targets-from.ts';
import { NO_PROXIES } from '../../../../../src/agent/net/proxy/choose-proxy.ts';
import type { CheckListener, CheckSet } from '../../../../../src/agent/source/check-source.ts';
import { withDiscoveredTargets } from '../../../../../src/agent/source/discovery/discovered-targets.ts';
import type { Check } from '../../../../../src/model/check/check.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { captureLog } from '../../../../support/log-capture.ts';
import { makeTempFolder } from '../../../../support/process/temp-folder.ts';
import { checkOf } from '../../../../support/samples/checks.ts';

const FILE_PERIOD_MS = 10_000;
const URL_PERIOD_MS = 60_000;
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
  { maxChecks }: { readonly maxChecks?: number } = {},
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
  const options = maxChecks === undefined ? parts : { ...parts, maxChecks };
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
  return { clock, records, sets, give: (...checks: Check[]) => give(...checks), namesNow };
}

function tempFolder(): string {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  return folder.path;
}

it('files make checks in place of the one that stands for them, and follow their changes', async () => {
  const folder = join(tempFolder(), 'targets');
  await mkdir(folder);
  await writeFile(join(folder, 'one.json'), '[{"targets": ["a.test"], "labels": {"team": "x"}}]');
  await writeFile(join(folder, 'other.txt'), 'not read');
  const { clock, sets, give, namesNow } = discovering([
    { kind: 'file', path: join(folder, '*.json') },
  ]);
  give(MODULE, OTHER);
  await eventually(() => sets.length > 0);
  expect(namesNow()).toEqual(['db', 'Shop a.test']);
  expect(sets[0]?.checks[1]?.tags).toEqual(['team:x']);

  await writeFile(join(folder, 'two.json'), '[{"targets": ["b.test"]}]');
  await eventually(() => clock.pendingTimers === 1);
  await clock.advance(FILE_PERIOD_MS);
  await eventually(() => sets.length === 2);
  expect(namesNow()).toEqual(['db', 'Shop a.test', 'Shop b.test']);

  // The file changes, and the targets do not.
  give(MODULE);
  await eventually(() => sets.length === 3);
  expect(namesNow()).toEqual(['Shop a.test', 'Shop b.test']);
});

it('a document that cannot be read any more leaves the last targets, and the log says why', async () => {
  const path = join(tempFolder(), 'targets.yaml');
  await writeFile(path, '- targets: [a.test]\n');
  const { clock, sets, give, namesNow, records } = discovering([{ kind: 'file', path }]);
  give(MODULE);
  await eventually(() => sets.length > 0);
  await rm(path);
  await eventually(() => clock.pendingTimers === 1);
  await clock.advance(FILE_PERIOD_MS);
  const isLogged = () => records().some(({ msg }) => String(msg).includes('cannot be read'));
  await eventually(isLogged);
  give(MODULE);
  await eventually(() => sets.length === 2);
  expect(namesNow()).toEqual(['Shop a.test']);
});

it('targets are fetched by HTTP each minute', async () => {
  const requests: unknown[] = [];
  let targets = ['a.test'];
  const server = createServer(({ headers }, response) => {
    requests.push(headers['x-prometheus-refresh-interval-seconds']);
    response.setHeader('content-type', 'application/json').end(JSON.stringify([{ targets }]));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/targets?a=b`);
  const { clock, sets, give, namesNow } = discovering([{ kind: 'url', url }]);
  give(MODULE);
  await eventually(() => sets.length > 0);
  expect(namesNow()).toEqual(['Shop a.test']);
  expect(requests).toEqual(['60']);

  targets = ['b.test'];
  await eventually(() => clock.nextTimerInMs === URL_PERIOD_MS);
  await clock.advance(URL_PERIOD_MS);
  await eventually(() => sets.length === 2);
  expect(namesNow()).toEqual(['Shop b.test']);
});
