import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { MissedSlots } from '../../model/result/missed-slots.ts';
import { restrictDataFolder } from '../../runtime/files/private-folder.ts';
import { VERSION } from '../../runtime/version.ts';
import { isInTime, sleep } from '../../runtime/wait.ts';
import { capabilitiesOf } from '../capabilities.ts';
import type { ServiceWork } from '../config/agent-config.ts';
import type { KeyChange, KeySource } from '../config/key-source.ts';
import type { ResultSink } from '../output/result-sink.ts';
import { ServiceClient } from '../service-client/service-client.ts';
import { damagedSlots } from '../slots/damaged-slots.ts';
import { openSlotLedger } from '../slots/ledger.ts';
import { createServiceSource, type ServiceSource } from '../source/service/service-source.ts';
import { openSpool } from '../spool/open-spool.ts';
import type { SpoolSlots } from '../spool/spool.ts';
import { SpoolSink } from '../spool/spool-sink.ts';
import { TrialReporter } from '../trials/trial-reporter.ts';
import { openArtifactOutbox } from '../upload/artifact-outbox.ts';
import { Uploader } from '../upload/uploader.ts';
import type { Backend, BackendParts } from './backend.ts';
import { createServiceHandover } from './retry-handover.ts';

export interface ServiceBackendOptions {
  readonly work: ServiceWork;
  /** Maximum number of working runs. */
  readonly concurrency: number;
  /** A second sink for all results; null if there is none. */
  readonly alsoTo: ResultSink | null;
}

/** The agent's files and folders in DATA_DIR. */
const DATA_NAMES = [
  'accounted.json',
  'agent-id',
  'artifacts',
  'assignments.json',
  'crash-reports.json',
  'spool',
];
/** Yields to the event loop after this many missed slots. */
const MISSED_PER_YIELD = 100;
const KEY_REFRESH_MS = 10_000;
/** The limit at the end of the process: a failing disk must not use up the time for uploads. */
const DISK_LIMIT_MS = 2_000;

/**
 * Opens the backend for a service, which assigns the checks and receives the records of the spool.
 *
 * @throws VedetteError if DATA_DIR cannot be used
 */
export async function openServiceBackend(
  { work, concurrency, alsoTo }: ServiceBackendOptions,
  { clock, log, metrics, runs, captures, reports, secrets }: BackendParts,
): Promise<Backend> {
  const { dataDir, key, serviceUrl, spoolMaxBytes: maxBytes, spoolMaxAgeMs: maxAgeMs } = work;
  if (dataDir !== null) await restrictDataFolder(dataDir, DATA_NAMES, log);
  const onDropped = metrics.spoolDropped;
  const lostBefore: SpoolSlots[] = [];
  let reportLost = (slots: SpoolSlots): void => void lostBefore.push(slots);
  const onLost: typeof reportLost = (slots) => reportLost(slots);
  const spool = await openSpool({ dataDir, maxBytes, maxAgeMs }, { clock, log, onDropped, onLost });
  const client = new ServiceClient({
    serviceUrl,
    key: () => key.current,
    proxies: work.proxies,
    artifactOrigins: work.artifactOrigins,
    clock,
    version: VERSION,
    scrub: (text) => secrets.scrubber.text(text),
  });
  const letGo = async (): Promise<void> => {
    try {
      await spool.close();
    } finally {
      await client.close();
    }
  };
  try {
    const outbox = await openArtifactOutbox({ dataDir, spool, clock, log });
    const trials = new TrialReporter({
      client,
      clock,
      log,
      agentId: () => source.agentId,
      epoch: () => source.epoch,
    });
    const source: ServiceSource = await createServiceSource({
      client,
      onTrialRefused: (trialId, problem) => trials.report(trialId, { kind: 'refused', problem }),
      dataDir,
      capabilities: await capabilitiesOf(clock, await captures),
      concurrency,
      load: () => ({ running: runs.running, queued: runs.queued }),
      health: () => ({
        maxLatenessMs: metrics.maxLatenessMs(),
        missedSlots: metrics.totals.missedSlots,
        spoolRecords: spool.depth.records,
        spoolBytes: spool.depth.bytes + outbox.bytes,
        spoolOldestMs:
          spool.oldestAgeMs === null ? null : Math.max(0, Math.round(spool.oldestAgeMs)),
      }),
      version: VERSION,
      clock,
      log,
    });
    const ledger = await openSlotLedger({
      dataDir,
      clock,
      log,
      reachedMs: () => runs.reachedMs,
      committed: () => spool.committed(),
    });
    const epoch = (): number => source.epoch;
    let location = source.lastSet?.location ?? '';
    const sink = new SpoolSink({ spool, alsoTo, clock, log, location: () => location });
    const reportMissed = (missed: MissedSlots): void => {
      metrics.missed(missed);
      sink.missed(missed);
    };
    reportLost = (slots) => damagedSlots([slots]).forEach(reportMissed);
    const { agentId, lastSet } = source;
    const uploader = new Uploader({
      spool,
      outbox,
      client,
      agentId,
      epoch,
      clock,
      log,
      onUploaded: metrics.uploaded,
      onRejected: metrics.rejected,
      outlivesProcess: dataDir !== null,
    });
    let markReported = (): void => {};
    const reported = new Promise<void>((resolve) => {
      markReported = resolve;
    });

    return {
      source: {
        checkFileUsable: null,
        watch(listener, signal) {
          const onChecks: typeof listener.onChecks = (set) => {
            location = set.location;
            listener.onChecks(set);
          };
          const onTrial: typeof listener.onTrial = (trial) => {
            trials.began(trial.runId);
            listener.onTrial(trial);
          };
          const onRun: typeof listener.onRun = (run) => listener.onRun(run);
          const onRunCancelled: typeof listener.onRunCancelled = (runId) =>
            listener.onRunCancelled(runId);
          return source.watch({ onChecks, onTrial, onRun, onRunCancelled }, signal);
        },
      },
      sink,
      handover: createServiceHandover({ client, agentId, epoch, log }),
      artifacts: outbox,
      slots: ledger,
      outlivesProcess: dataDir !== null,
      status: () => ({
        spool: {
          records: spool.depth.records,
          bytes: spool.depth.bytes + outbox.bytes,
          oldestAgeMs: spool.oldestAgeMs,
        },
        lastContactMs: client.lastContactMs,
        clockAheadMs: source.clockAheadMs,
      }),
      leftBefore: (startMs) => (lastSet === null ? [] : ledger.missedBefore(lastSet, startMs)),
      ledgerIsOurs: () => markReported(),
      pollForAssignments: (since) => source.pollForAssignments(since),
      runEnded(runId, outcome) {
        // Another agent may still run it.
        if (outcome === 'stopped') return;
        // The service may forget the run only when its result is on disk.
        void spool.committed().then(() => source.done(runId));
      },
      trialEnded(trialId, outcome) {
        trials.report(trialId, outcome);
        source.trialDone(trialId);
      },
      async work(signal) {
        const saving = async (): Promise<void> => {
          if (await isInTime(reported, signal)) await ledger.run(signal);
        };
        const reportingLost = async (): Promise<void> => {
          for (const [index, missed] of damagedSlots(lostBefore).entries()) {
            reportMissed(missed);
            if (index % MISSED_PER_YIELD === MISSED_PER_YIELD - 1) await yieldToEventLoop();
          }
          if (await isInTime(spool.committed(), signal)) spool.forgetDamage();
        };
        const reporting = reports.run({ client, agentId }, signal);
        await Promise.all([
          uploader.run(signal),
          saving(),
          reportingLost(),
          refresh(key, signal, () => source.keyChanged()),
          reporting,
        ]);
      },
      release: (signal) => source.release(signal),
      async close(signal) {
        const disk = new AbortController();
        const cancel = clock.after(DISK_LIMIT_MS, () => disk.abort());
        const inTime = AbortSignal.any([signal, disk.signal]);
        try {
          await trials.close(signal);
          await isInTime(outbox.close(), inTime);
          await sink.flush(inTime);
          await ledger.save(inTime);
          await uploader.flush(signal);
          await reports.flush(signal);
        } finally {
          cancel();
          await letGo();
        }
      },
    };
  } catch (error) {
    await letGo();
    throw error;
  }

  async function refresh(
    from: KeySource,
    signal: AbortSignal,
    onChanged: () => void,
  ): Promise<void> {
    let before: KeyChange = 'same';
    while (await sleep(clock, KEY_REFRESH_MS, signal)) {
      const refreshed = from.refresh();
      // The file may be on a dead mount.
      if (!(await isInTime(refreshed, signal))) return;
      const change = await refreshed;
      if (change === 'changed') {
        log.info('API_KEY_FILE has another key, which is used from now on');
        onChanged();
      }
      const [wasUnusable, isUnusable] = [before === 'unusable', change === 'unusable'];
      before = change;
      if (isUnusable === wasUnusable) continue;
      log.warn(
        isUnusable
          ? 'API_KEY_FILE cannot be read or contains no key: the last key stays in use'
          : 'API_KEY_FILE contains a key again',
      );
    }
  }
}
