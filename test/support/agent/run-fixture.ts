import { onTestFinished } from 'vitest';
import { NO_OPERATOR_VARIABLES } from '../../../src/agent/config/operator-variables.ts';
import type { ConnectivityTarget } from '../../../src/agent/run/connectivity.ts';
import type { Run, RunnerParts } from '../../../src/agent/run/run.ts';
import { runCheck } from '../../../src/agent/run/run-check.ts';
import { createRunTools } from '../../../src/agent/run/run-tools.ts';
import { RunPermits } from '../../../src/agent/scheduler/permits/permits.ts';
import type { Check } from '../../../src/model/check/check.ts';
import type { MissedSlots } from '../../../src/model/result/missed-slots.ts';
import type { CheckResult } from '../../../src/model/result/result.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import { eventually } from '../eventually.ts';
import { captureLog } from '../log-capture.ts';
import { EMPTY_SECRETS } from '../samples/secrets.ts';

export const SLOT_MS = Date.UTC(2026, 0, 1, 12);

export interface RunFixture {
  readonly parts: RunnerParts;
  readonly results: readonly CheckResult[];
  readonly missed: readonly MissedSlots[];
  readonly places: Pick<RunPermits, 'running' | 'waiting'>;
  /** Attempts repeated because the agent was starved of CPU. */
  readonly starved: number;
  readonly logRecords: () => Record<string, unknown>[];
  /** Starts a run; resolves when it has ended. */
  run(check: Check, signal?: AbortSignal, given?: Partial<Run>): Promise<void>;
  /** Resolves after this many results. */
  resultCount(count: number): Promise<void>;
}

export interface RunFixtureOptions {
  readonly clock: Clock;
  readonly concurrency?: number;
  readonly connectivityTargets?: readonly ConnectivityTarget[];
  readonly parts?: Partial<RunnerParts>;
}

/** The run pipeline with its real parts, and results in memory. Ends with the test. */
export function runFixture(options: RunFixtureOptions): RunFixture {
  const { clock, concurrency = 100, connectivityTargets = [] } = options;
  const { log, records } = captureLog();
  const tools = createRunTools({
    config: {
      concurrency,
      connectivityTargets,
      deniedNetworks: [],
      logLevel: 'info',
      extraRootsPem: null,
      operatorVariables: NO_OPERATOR_VARIABLES,
      executeScripts: true,
      scriptWorkers: 2,
    },
    clock,
    log,
    clientCertificates: () => [],
    proxyUrl: () => null,
    secrets: EMPTY_SECRETS,
    traceSalt: null,
    starvation: { threadDelay: null, sockets: null, loopIdleMs: null },
  });
  onTestFinished(() => tools.close());
  const results: CheckResult[] = [];
  const missed: MissedSlots[] = [];
  let starved = 0;
  const parts: RunnerParts = {
    ...tools.parts,
    location: () => 'local',
    handover: null,
    artifacts: null,
    evidence: null,
    sink: {
      result: (result) => void results.push(result),
      missed: (slots) => void missed.push(slots),
    },
    onStarved: () => {
      starved += 1;
    },
    onShed: () => {},
    onBodyWithoutRoom: () => {},
    ...options.parts,
  };
  const places = new RunPermits({ concurrency, maxWaiting: 1000 });
  return {
    parts,
    results,
    missed,
    places,
    get starved() {
      return starved;
    },
    logRecords: records,
    run: (check, signal = new AbortController().signal, given = {}) =>
      places.take(async (place) => {
        const first = { sequenceId: null, retriesMade: 0, firstStartedAtMs: null };
        await runCheck(
          { check, slotMs: SLOT_MS, signal, permit: place, ...first, ...given },
          parts,
        );
      }),
    resultCount: (count) => eventually(() => results.length >= count),
  };
}
