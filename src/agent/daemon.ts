import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ClientCertificate } from '../model/check/client-certificate.ts';
import type { MissedSlots } from '../model/result/missed-slots.ts';
import type { CheckResult } from '../model/result/result.ts';
import type { Moment } from '../runtime/boot-clock.ts';
import type { Clock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import type { StopSignals } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { countText } from '../runtime/text/count-text.ts';
import { ThrottledLog } from '../runtime/throttled-log.ts';
import { isInTime } from '../runtime/wait.ts';
import type { OneOff } from '../wire/v1/assignment.ts';
import type { Backend, RunProgress } from './backend/backend.ts';
import { BlackboxProbe } from './blackbox-probe/blackbox-probe.ts';
import type { DaemonConfig } from './config/agent-config.ts';
import type { EvidenceBudget } from './evidence/evidence-budget.ts';
import type { AgentState, HealthStatus } from './health/readiness-and-liveness.ts';
import type { AgentMetrics } from './metrics/metrics.ts';
import { limitAddTime } from './run/artifacts/add-time-limit.ts';
import { runCheck } from './run/run-check.ts';
import type { RunTools } from './run/run-tools.ts';
import type { WaitingLimit } from './scheduler/permits/waiting-limit.ts';
import { Scheduler } from './scheduler/scheduler.ts';
import type { AgentSecrets } from './secrets/agent-secrets.ts';
import { shutdownLimit } from './shutdown-limit.ts';
import { missedBeforeTakeover } from './slots/missed-since.ts';
import type { CheckSet } from './source/check-source.ts';
import { TrialRuns } from './trials/trial-runs.ts';

export interface DaemonParts {
  readonly config: Pick<DaemonConfig, 'concurrency'>;
  readonly waiting: WaitingLimit;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: AgentMetrics;
  readonly backend: Backend;
  readonly tools: RunTools['parts'];
  readonly secrets: Pick<AgentSecrets, 'take' | 'admit' | 'missing'>;
  /** null for no diagnostic passes. */
  readonly evidence: EvidenceBudget | null;
  /** Called with every result, after the backend. */
  readonly onResult?: ((result: CheckResult) => void) | undefined;
  /** No run starts before this resolves; checks are read meanwhile. */
  readonly ready: Promise<void>;
}

/** Maximum number of variable names in a log line. */
const MAX_MISSING_LOGGED = 20;
/** Missed slots reported between two yields to the event loop. */
const MISSED_PER_YIELD = 100;
/** Maximum delay of slots for the current assignment, milliseconds. */
const ASK_LIMIT_MS = 5_000;
/** The time for remaining deliveries after the last run, milliseconds. */
const FLUSH_LIMIT_MS = 5_000;
/** Time limit of the release, milliseconds. After it the lease expires by itself. */
const RELEASE_LIMIT_MS = 3_000;

/**
 * Runs the checks of the backend's source and sends the results to the backend, from the first set
 * of checks until a stop signal; see main.ts for its states.
 */
export class Daemon implements RunProgress {
  readonly #parts: DaemonParts;
  readonly #scheduler: Scheduler;
  readonly #trials: TrialRuns;
  /** Serves probes once it has checks. */
  readonly probes: BlackboxProbe;
  readonly #throttled: ThrottledLog;
  #state: AgentState = 'starting';
  #clientCertificates: readonly ClientCertificate[] = [];
  #proxyUrl: string | null = null;
  #location = '';
  /** Resolves when all sets and runs from the source are applied, in their order. */
  #applied: Promise<void>;
  /** Undefined variables of templates in the last log line about them. */
  #loggedMissing = '';
  /** Aborts when no run may start any more. */
  readonly #draining = new AbortController();
  /** Resolves when all missed slots of the previous process are reported. */
  #missedReported: Promise<void> = Promise.resolve();

  constructor(parts: DaemonParts) {
    const { clock, config, evidence, backend, log, metrics, ready, tools, waiting } = parts;
    this.#parts = parts;
    this.#throttled = new ThrottledLog(clock, log);
    this.#applied = ready;
    const sendMissed = (missed: MissedSlots): void => this.#sendMissed(missed);
    const runnerParts = {
      ...tools,
      sink: { result: (result: CheckResult) => this.#sendResult(result), missed: sendMissed },
      location: () => this.#location,
      handover: backend.handover,
      artifacts: backend.artifacts === null ? null : limitAddTime(backend.artifacts, clock),
      evidence,
      onStarved: metrics.starved,
      onShed: metrics.shed,
      onBodyWithoutRoom: metrics.bodyWithoutRoom,
    };
    this.#trials = new TrialRuns(runnerParts);
    this.probes = new BlackboxProbe(runnerParts);
    this.#scheduler = new Scheduler({
      clock,
      concurrency: config.concurrency,
      maxWaiting: waiting.runs,
      run: async (run) => {
        if (!(await this.#trials.run(run))) await runCheck(run, runnerParts);
      },
      onMissed: (missed) => {
        sendMissed(missed);
        if (missed.reason === 'agent_busy' && this.#scheduler.isWaitingFull) this.#warnOfWaiting();
      },
      slots: backend.slots,
      onStoodStill: (since) => this.#confirmAssignments(since),
      onFault: (fault, check) =>
        log.error({ err: fault, checkId: check?.id }, 'a fault of the agent; please report it'),
      observer: {
        started(_check, _slotMs, lateMs, kind) {
          // A one-off has no slot to be late for.
          if (kind === 'slot') metrics.startLate(lateMs);
        },
        paused: () => metrics.paused(),
        clockStepped: (stepMs) => log.warn({ stepMs }, 'the wall clock was set'),
      },
    });
    metrics.bind(this.#scheduler, backend.source, backend.status);
  }

  get running(): number {
    return this.#scheduler.running;
  }

  get queued(): number {
    return this.#scheduler.queued;
  }

  get reachedMs(): number {
    return this.#scheduler.reachedMs;
  }

  get clientCertificates(): readonly ClientCertificate[] {
    return this.#clientCertificates;
  }

  get proxyUrl(): string | null {
    return this.#proxyUrl;
  }

  get status(): HealthStatus {
    const { backend, metrics } = this.#parts;
    const { spool, lastContactMs } = backend.status();
    const oldestAgeMs = spool?.oldestAgeMs ?? null;
    return {
      state: this.#state,
      checks: this.#scheduler.checks,
      running: this.#scheduler.running,
      waiting: this.#scheduler.waiting,
      queued: this.#scheduler.queued,
      ...metrics.totals,
      spoolDepth: spool?.records ?? null,
      spoolOldestSeconds: oldestAgeMs === null ? null : Math.floor(oldestAgeMs / 1000),
      lastContact: lastContactMs === null ? null : new Date(lastContactMs).toISOString(),
      checkFileUsable: backend.source.checkFileUsable,
      lastTickMs: this.#scheduler.lastTickMs,
    };
  }

  /**
   * Resolves when `stopping` has aborted and all runs have ended.
   *
   * @throws VedetteError if the source cannot continue, and any error of the backend's work; all
   *   runs have ended by then
   */
  async run(stop: Pick<StopSignals, 'stopping' | 'now' | 'request'>): Promise<void> {
    const { backend, log, secrets } = this.#parts;
    const ended = new AbortController();
    const faults: unknown[] = [];
    const work = backend.work(ended.signal).catch((error: unknown) => {
      faults.push(error);
      log.error({ err: error }, `a fault of the agent; please report it: ${messageOf(error)}`);
      // Otherwise the agent would look healthy and deliver nothing.
      stop.request('result delivery failed');
    });
    try {
      // Stops at once even if the source blocks (a file on a dead mount).
      await endOrAbort(
        backend.source.watch(
          {
            onChecks: (set) => this.#applyInOrder(() => this.#take(set)),
            onRun: (run) =>
              this.#applyInOrder(async () => {
                // The check of the run may be missing from the set.
                await secrets.admit(run.check);
                this.#runOnce(run);
              }),
            onRunCancelled: (runId) =>
              this.#applyInOrder(() => this.#scheduler.cancelOneOff(runId)),
            onTrial: (trial) =>
              this.#applyInOrder(async () => {
                await secrets.admit(trial.check);
                this.#try(trial);
              }),
          },
          stop.stopping,
        ),
        stop.stopping,
      );
    } catch (error) {
      // The grace then bounds the wait for active runs.
      if (this.#state === 'running') stop.request('the check source failed');
      throw error;
    } finally {
      await this.#drain(stop.now);
      await this.#applied;
      await this.#missedReported;
      ended.abort();
      await work;
      await this.#close(stop.now);
    }
    if (faults.length > 0) throw faults[0];
  }

  /** Applies events of the source one after the other: a set may take a while. */
  #applyInOrder(act: () => Promise<void> | void): void {
    const { log } = this.#parts;
    this.#applied = this.#applied.then(act).catch((error: unknown) => {
      log.error({ err: error }, `a fault of the agent; please report it: ${messageOf(error)}`);
    });
  }

  async #take(set: CheckSet): Promise<void> {
    const { secrets } = this.#parts;
    // No run may start with a value that is not masked yet.
    await secrets.take(set);
    if (this.#state === 'draining') return;
    const { clock, backend, log, metrics } = this.#parts;
    this.#logMissing(secrets.missing(set.checks));
    this.#clientCertificates = set.clientCertificates;
    this.#proxyUrl = set.proxyUrl;
    this.#location = set.location;
    const active = set.checks.filter(({ activated }) => activated);
    // Not those of deactivated checks: their last values would look current.
    metrics.setChecks(active);
    this.probes.setChecks(set.checks);
    this.#scheduler.setChecks(active, set.rotations, set, set.answered);
    const { checks: scheduled } = this.#scheduler;
    log.info({ checks: set.checks.length, scheduled }, 'checks loaded');
    if (this.#state === 'starting') {
      this.#state = 'running';
      this.#scheduler.start();
      this.#reportMissed(backend.leftBefore(this.#scheduler.reachedMs), () =>
        backend.ledgerIsOurs(),
      );
    }
    // Slots between the previous agent of a check and this one. After a late tick some of them may
    // run after all: the service then uses the result.
    const startMs = Math.max(this.#scheduler.reachedMs, clock.wallMs());
    this.#reportMissed(missedBeforeTakeover(set, startMs));
  }

  #logMissing(names: readonly string[]): void {
    const listed = names.slice(0, MAX_MISSING_LOGGED).join(', ');
    if (listed === this.#loggedMissing) return;
    this.#loggedMissing = listed;
    if (names.length === 0) return;
    this.#parts.log.warn(
      { variables: names.length },
      `checks fail because these variables are not defined: ${listed}; define them in the account, the check file or the check, or on the agent by VARIABLES_FROM_ENV or VARIABLES_DIR`,
    );
  }

  #sendResult(result: CheckResult): void {
    const { backend, metrics, onResult } = this.#parts;
    metrics.finished(result);
    backend.sink.result(result);
    onResult?.(result);
  }

  #sendMissed(missed: MissedSlots): void {
    const { backend, metrics } = this.#parts;
    metrics.missed(missed);
    backend.sink.missed(missed);
  }

  /** Yields between batches: a blocked event loop would distort the times of active runs. */
  #reportMissed(all: readonly MissedSlots[], onReported = (): void => {}): void {
    const report = async (): Promise<void> => {
      for (const [index, missed] of all.entries()) {
        this.#sendMissed(missed);
        if (index % MISSED_PER_YIELD === MISSED_PER_YIELD - 1) await yieldToEventLoop();
      }
      onReported();
    };
    const { log } = this.#parts;
    this.#missedReported = this.#missedReported.then(report).catch((error: unknown) => {
      log.error({ err: error }, `a fault of the agent; please report it: ${messageOf(error)}`);
    });
  }

  /** @returns see `SchedulerOptions.onStoodStill` */
  #confirmAssignments(since: Moment): Promise<void> | null {
    const { backend, log } = this.#parts;
    const asked = backend.pollForAssignments(since);
    if (asked === null) return null;
    log.info(
      "the agent's lease expired while it was suspended or stalled: it confirms its assignments",
    );
    return this.#untilApplied(asked);
  }

  /** Resolves when the source's answer is applied, or after ASK_LIMIT_MS without one. */
  async #untilApplied(answered: Promise<void>): Promise<void> {
    const { clock, log } = this.#parts;
    const limit = new AbortController();
    const cancel = clock.after(ASK_LIMIT_MS, () => limit.abort());
    const applied = answered.then(() => this.#applied);
    await isInTime(applied, AbortSignal.any([limit.signal, this.#draining.signal]));
    cancel();
    if (limit.signal.aborted)
      log.warn('the service did not respond in time; continuing with the current checks');
  }

  #warnOfWaiting(): void {
    const { runs, remedy } = this.#parts.waiting;
    this.#throttled.warn(
      'waiting',
      { waiting: runs },
      `slots are missed (agent_busy): ${countText(runs, 'run waits for its target', 'runs wait for their targets')}, the maximum: ${remedy}`,
    );
  }

  #runOnce(run: OneOff): void {
    this.#scheduler.runOnce(run, (outcome) => this.#parts.backend.runEnded(run.runId, outcome));
  }

  #try(trial: OneOff): void {
    const { backend } = this.#parts;
    this.#trials.begin(trial.sequenceId);
    this.#scheduler.runOnce(trial, (outcome) =>
      backend.trialEnded(trial.runId, this.#trials.end(trial.sequenceId, outcome)),
    );
  }

  async #drain(now: AbortSignal): Promise<void> {
    const { clock, backend, log } = this.#parts;
    this.#state = 'draining';
    this.#draining.abort();
    const drained = this.#scheduler.drain(now);
    const probesEnded = this.probes.stop();
    const runs = this.#scheduler.unfinished;
    if (runs > 0) log.info({ runs }, 'waiting for runs to finish, retries included');
    const limit = shutdownLimit(clock, now, RELEASE_LIMIT_MS);
    try {
      await backend.release(limit.signal);
    } finally {
      limit.cancel();
    }
    await drained;
    await probesEnded;
  }

  /** Has its own time limit: aborted runs report results, too. */
  async #close(now: AbortSignal): Promise<void> {
    const { clock, backend, log } = this.#parts;
    // Results that are saved nowhere get the whole grace.
    const survives = backend.outlivesProcess || backend.status().spool === null;
    const limit = shutdownLimit(clock, now, survives ? FLUSH_LIMIT_MS : null);
    try {
      await backend.close(limit.signal);
    } catch (error) {
      log.error({ err: error }, `results could not be written: ${messageOf(error)}`);
    } finally {
      limit.cancel();
    }
  }
}

/** Settles as the promise does, or resolves when the signal aborts. */
function endOrAbort(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    promise.then(resolve, reject);
  });
}
