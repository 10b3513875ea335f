import { randomUUID } from 'node:crypto';
import type { Check } from '../model/check/check.ts';
import type { MissedSlots } from '../model/result/missed-slots.ts';
import type { CheckResult } from '../model/result/result.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { RunConfig } from './config/agent-config.ts';
import { runPaced } from './paced-starts.ts';
import { runCheck } from './run/run-check.ts';
import { createRunTools } from './run/run-tools.ts';
import { openStarvationSources } from './run/starvation/starvation-meter.ts';
import { warmUp } from './run/warm-up.ts';
import { RunPermits } from './scheduler/permits/permits.ts';
import { waitingLimit } from './scheduler/permits/waiting-limit.ts';
import type { AgentSecrets } from './secrets/agent-secrets.ts';
import type { CheckSet } from './source/check-source.ts';

export interface RunOnceOptions {
  readonly set: Pick<CheckSet, 'checks' | 'clientCertificates'>;
  readonly config: RunConfig;
  /** If false, each check has one attempt, and its retryStrategy is ignored. */
  readonly retries: boolean;
  readonly location: string;
  readonly log: Logger;
  /** The secrets, which already contain the set's variables. */
  readonly secrets: AgentSecrets;
  /** Ends active runs at once, as missed (`agent_stopped`). */
  readonly signal: AbortSignal;
  readonly onStarted: (check: Check) => void;
  /** Receives every attempt's result, FINAL ones included. */
  readonly onResult: (result: CheckResult) => void;
  readonly onMissed: (missed: MissedSlots) => void;
}

/**
 * Runs each check of the set once, with at most `config.concurrency` working runs. Warms up first
 * and paces the starts, so that no check's times include the work of others.
 */
export async function runOnce(options: RunOnceOptions): Promise<void> {
  const { set, config, retries, location, log, secrets, signal } = options;
  const clock = systemClock;
  const tools = createRunTools({
    config,
    traceSalt: randomUUID(),
    clock,
    log,
    clientCertificates: () => set.clientCertificates,
    proxyUrl: () => null,
    secrets,
    starvation: await openStarvationSources(),
  });
  const { concurrency } = config;
  const permits = new RunPermits({ concurrency, maxWaiting: waitingLimit(concurrency).runs });
  const parts = {
    ...tools.parts,
    location: () => location,
    handover: null,
    artifacts: null,
    // A user at a terminal gets an answer at once.
    evidence: null,
    sink: { result: options.onResult, missed: options.onMissed },
    onStarved: () => log.warn('an attempt was repeated: this process was short of CPU in it'),
    onShed: () => {},
    onBodyWithoutRoom: () => {},
    // No run is shed: each check runs only once.
    loadShedding: {
      sheds: (what: 'evidence' | 'detail') => tools.parts.loadShedding.sheds(what),
      shedsRunOf: () => false,
      hadNoVerdict: () => {},
      starved: () => {},
    },
  };
  try {
    await warmUp(parts, signal);
    await runPaced(set.checks, { clock, signal }, (check) =>
      permits.take(async (permit) => {
        if (!signal.aborted) options.onStarted(check);
        const slotMs = clock.wallMs();
        const once = retries ? check : { ...check, retryStrategy: null };
        // A signal of its own: hundreds of runs would add as many listeners to one.
        const run = {
          check: once,
          slotMs,
          sequenceId: null,
          retriesMade: 0,
          firstStartedAtMs: null,
          signal: AbortSignal.any([signal]),
          permit,
        };
        await runCheck(run, parts).catch((fault: unknown) => {
          log.error({ err: fault, checkId: check.id }, 'a fault of Vedette; please report it');
          const reason = 'agent_fault';
          options.onMissed({
            checkId: check.id,
            slot: slotMs,
            lastSlot: slotMs,
            count: 1,
            reason,
          });
        });
      }),
    );
  } finally {
    await tools.close();
  }
}
