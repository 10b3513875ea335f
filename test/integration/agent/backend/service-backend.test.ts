import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { openServiceBackend } from '../../../../src/agent/backend/service-backend.ts';
import { fixedKey, type KeySource, keyFile } from '../../../../src/agent/config/key-source.ts';
import { NO_REPORTS } from '../../../../src/agent/error-reports/disabled-reports.ts';
import { createMetrics } from '../../../../src/agent/metrics/metrics.ts';
import { sequenceIdOf } from '../../../../src/model/ids.ts';
import { NO_PROXIES } from '../../../../src/runtime/net/proxy/choose-proxy.ts';
import { NO_SECRETS } from '../../../../src/scrub/scrubber.ts';
import { PATHS } from '../../../../src/wire/v1/limits.ts';
import { metricsText } from '../../../support/agent/metrics-text.ts';
import { UploadService } from '../../../support/agent/upload-service.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { openToAll, openToOthers } from '../../../support/process/file-modes.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';
import { wireResult } from '../../../support/samples/wire-results.ts';

const KEY = `pl_${'0'.repeat(32)}`;

async function openBackend(
  key: KeySource = fixedKey(KEY),
  folder = makeTempFolder(),
  running: UploadService | null = null,
) {
  const service = running ?? (await UploadService.start());
  onTestFinished(folder.remove);
  const metrics = createMetrics({ version: '1.2.3' });
  const clock = new FakeClock(Date.now());
  const { log, records } = captureLog();
  const work = {
    kind: 'service',
    serviceUrl: service.url,
    key,
    proxies: NO_PROXIES,
    artifactOrigins: [],
    dataDir: folder.path,
    spoolMaxBytes: 64 * 1024 * 1024,
    spoolMaxAgeMs: 3_600_000,
  } as const;
  const backend = await openServiceBackend(
    { work, concurrency: 1, alsoTo: null },
    {
      clock,
      log,
      metrics,
      runs: { running: 0, queued: 0, reachedMs: clock.wallMs() },
      captures: Promise.resolve(() => false),
      secrets: { scrubber: NO_SECRETS },
      reports: NO_REPORTS,
    },
  );
  return { backend, clock, folder, service, records, metrics };
}

/**
 * Lets time pass until the condition holds. The clock advances only to timers that are due within
 * about two seconds, so no request reaches its time limit because this machine is slow.
 */
async function moving(clock: FakeClock, isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    const waitMs = clock.nextTimerInMs ?? Number.POSITIVE_INFINITY;
    if (waitMs < 1_900) await clock.advance(waitMs);
    else await settle();
  }
}

/** Lets time pass until the promise is settled, and rejects as it does. */
async function passing(clock: FakeClock, work: Promise<void>): Promise<void> {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  over.catch(() => {});
  await moving(clock, () => isOver);
  await over;
}

it('sends results that the disk refuses to the service at the end', async () => {
  const { backend, clock, folder, service, records } = await openBackend();
  rmSync(folder.file('spool'), { recursive: true });
  const result = wireResult('sequence-1');
  backend.sink.result(result);
  const limit = new AbortController();
  const cancel = clock.after(5_000, () => limit.abort());
  const closed = backend.close(limit.signal);
  await clock.advance(100);
  await eventually(() => records().some(({ level }) => level === 'error'));
  await clock.advance(2_400);
  await eventually(() => service.taken.length > 0);
  expect(service.taken).toEqual([result.id]);
  await closed;
  cancel();
  expect(clock.pendingTimers).toBe(0);
});

it('ends its work at once, also where reading the key file blocks', async () => {
  const folder = makeTempFolder();
  writeFileSync(folder.file('key'), KEY);
  const { backend, clock } = await openBackend(keyFile(folder.file('key')), folder);
  const ended = new AbortController();
  const worked = backend.work(ended.signal);
  backend.ledgerIsOurs();
  // Whoever reads it waits for a writer.
  rmSync(folder.file('key'));
  execFileSync('mkfifo', [folder.file('key')]);
  await clock.advance(10_000);
  ended.abort();
  await worked;
  const writer = await open(folder.file('key'), 'w');
  await writer.close();
  await backend.close(new AbortController().signal);
});

it('closes the files in DATA_DIR to other users', async () => {
  const folder = makeTempFolder();
  mkdirSync(folder.file('spool'));
  writeFileSync(folder.file('assignments.json'), '{}');
  openToAll(folder.path);
  const { backend } = await openBackend(fixedKey(KEY), folder);
  expect(openToOthers(folder.path)).toEqual([]);
  await backend.close(AbortSignal.abort());
});

it('reports the slots of damaged results once, also over restarts', async () => {
  const folder = makeTempFolder();
  const service = await UploadService.start();
  const open = () => openBackend(fixedKey(KEY), folder, service);
  const first = await open();
  for (const minute of [1, 2, 3, 5]) {
    const slotMs = minute * 60_000;
    const slot = { checkId: 'c', checkRunId: slotMs, runLocation: 'here' };
    first.backend.sink.result(wireResult(sequenceIdOf('c', 'here', slotMs), slot));
  }
  await first.backend.close(AbortSignal.abort());
  rmSync(folder.file('spool/main-0000000000000000.seg'));

  for (const lost of [4, 0, 0]) {
    const { backend, clock, metrics } = await open();
    const ended = new AbortController();
    const worked = backend.work(ended.signal);
    backend.ledgerIsOurs();
    // Until the damage is known and its report is sent.
    const isDone = (): boolean =>
      backend.status().spool?.records === 0 && existsSync(folder.file('accounted.json'));
    await moving(clock, isDone);
    ended.abort();
    // The spool records removed entries after a delay of the clock.
    await passing(clock, worked);
    await passing(clock, backend.close(new AbortController().signal));
    const text = await metricsText(metrics);
    expect(text).toContain(`spool_dropped_total{kind="result",reason="damage"} ${lost}\n`);
    expect(text).toContain(`missed_slots_total{reason="spool_damaged"} ${lost}\n`);
    rmSync(folder.file('accounted.json'));
  }
  const sent = service.seen
    .filter(({ path }) => path === PATHS.results)
    .map(({ body }) => JSON.parse(gunzipSync(body).toString()));
  const slots = { checkId: 'c', reason: 'spool_damaged' };
  expect(sent.flatMap(({ missed }) => missed)).toEqual([
    expect.objectContaining({ ...slots, slot: 60_000, lastSlot: 180_000, count: 3 }),
    expect.objectContaining({ ...slots, slot: 300_000, lastSlot: 300_000, count: 1 }),
  ]);
});
