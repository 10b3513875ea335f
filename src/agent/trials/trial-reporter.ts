import { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { isInTime, sleep } from '../../runtime/wait.ts';
import { PATHS } from '../../wire/v1/limits.ts';
import { type TrialReport, trialResponseSchema } from '../../wire/v1/trials.ts';
import { trimForWire } from '../output/trim-for-wire.ts';
import type { ServiceClient } from '../service-client/service-client.ts';
import type { ServiceFailureKind } from '../service-client/service-failure.ts';
import type { TrialOutcome } from './trial-runs.ts';

export interface TrialReporterParts {
  readonly client: Pick<ServiceClient, 'post'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly agentId: () => string;
  readonly epoch: () => number;
}

const TIMEOUT_MS = 15_000;
/** The service does not wait for a report after this time. */
const REPORT_LIMIT_MS = 120_000;
const BACKOFF = { minMs: 500, maxMs: 10_000 } as const;
const MAX_PROBLEM_CHARS = 600;
/** Failures after which the same request may succeed later. */
const HEALS: ReadonlySet<ServiceFailureKind> = new Set(['offline', 'busy', 'failed']);

/**
 * Reports how trials ended. A user waits for the outcome now, so reports are only in memory, and
 * dropped when the service no longer waits.
 */
export class TrialReporter {
  readonly #parts: TrialReporterParts;
  readonly #stop = new AbortController();
  /** Reports in progress; at most as many as the service has given trials to this agent. */
  readonly #pending = new Set<Promise<void>>();
  /**
   * The lease of each trial in progress: a stopping agent returns its lease before its runs end.
   */
  readonly #epochs = new Map<string, number>();

  constructor(parts: TrialReporterParts) {
    this.#parts = parts;
  }

  /** Records that the agent has this trial under its current lease. */
  began(trialId: string): void {
    this.#epochs.set(trialId, this.#parts.epoch());
  }

  /** Called once, also for a trial that did not begin. */
  report(trialId: string, outcome: TrialOutcome): void {
    const { log, agentId, epoch: presentEpoch } = this.#parts;
    const epoch = this.#epochs.get(trialId) ?? presentEpoch();
    this.#epochs.delete(trialId);
    const body = bodyOf({ agentId: agentId(), epoch, trialId }, outcome);
    const sending = this.#send(trialId, body)
      .catch((error: unknown) => {
        log.error({ err: error, trialId }, `a trial was not reported: ${messageOf(error)}`);
      })
      .finally(() => this.#pending.delete(sending));
    this.#pending.add(sending);
  }

  /** Resolves when all reports are sent; drops the others when the signal aborts. */
  async close(signal: AbortSignal): Promise<void> {
    await isInTime(Promise.all(this.#pending), signal);
    this.#stop.abort();
    await Promise.all(this.#pending);
  }

  async #send(trialId: string, body: Buffer): Promise<void> {
    const { client, clock, log } = this.#parts;
    const backoff = new Backoff(BACKOFF);
    const untilMs = clock.monotonicMs() + REPORT_LIMIT_MS;
    const { signal } = this.#stop;
    for (;;) {
      const answer = await client.post(PATHS.trials, body, {
        schema: trialResponseSchema,
        timeoutMs: TIMEOUT_MS,
        signal,
      });
      if (answer.ok) {
        if (!answer.value.accepted)
          log.warn({ trialId }, 'the service no longer waited for the result of a trial');
        return;
      }
      const { kind, message, retryAfterMs } = answer.failure;
      if (kind === 'stopped') return;
      const delayMs = backoff.next(retryAfterMs ?? 0);
      if (!HEALS.has(kind) || clock.monotonicMs() + delayMs > untilMs) {
        log.warn({ trialId, kind }, `the result of a trial could not be sent: ${message}`);
        return;
      }
      await sleep(clock, delayMs, signal);
    }
  }
}

/** The JSON of the report; the result is cut to the bounds of the protocol, like any other. */
function bodyOf(
  named: Pick<TrialReport, 'agentId' | 'epoch' | 'trialId'>,
  outcome: TrialOutcome,
): Buffer {
  if (outcome.kind === 'result') {
    const rest = JSON.stringify({ ...named, missed: null, problem: null });
    const { body } = trimForWire(outcome.result);
    return Buffer.concat([Buffer.from(`${rest.slice(0, -1)},"result":`), body, Buffer.from('}')]);
  }
  const [missed, problem] =
    outcome.kind === 'missed'
      ? [outcome.reason, null]
      : ['refused', outcome.problem.slice(0, MAX_PROBLEM_CHARS)];
  const report: TrialReport = { ...named, result: null, missed, problem };
  return Buffer.from(JSON.stringify(report));
}
