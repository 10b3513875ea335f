import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClientCertificate } from '../model/check/client-certificate.ts';
import type { MissedSlots } from '../model/result/result.ts';
import type { Clock } from '../runtime/clock.ts';
import { messageOf } from '../runtime/errors.ts';
import type { StopSignals } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { countText } from '../runtime/text/count-text.ts';
import { ThrottledLog } from '../runtime/throttled-log.ts';
import type { Moment } from '../runtime/up-time.ts';
import { isInTime } from '../runtime/wait.ts';
import type { OneOff } from '../wire/v1/assignment.ts';
import type { DaemonConfig } from './config.ts';
import type { EvidenceBudget } from './evidence/evidence.ts';
import type { AgentState, HealthStatus } from './health/endpoints.ts';
import type { AgentMetrics } from './health/metrics.ts';
import type { Link, LinkedRuns } from './link/link.ts';
import type { ResultSink } from './output/result-sink.ts';
import { limitAddTime } from './run/artifacts/add-time-limit.ts';
import type { RunTools } from './run/run-tools.ts';
import { runCheck } from './run/runner.ts';
import type { WaitingLimit } from './scheduler/permits/waiting-limit.ts';
import { Scheduler } from './scheduler/scheduler.ts';
import type { SecretsVault } from './secrets/vault.ts';
import { missedBeforeComing } from './slots/missed-since.ts';
import type { CheckSet } from './source/check-source.ts';

export interface DaemonParts {
  readonly config: Pick<DaemonConfig, 'concurrency'>;
  readonly waiting: WaitingLimit;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: AgentMetrics;
  readonly link: Link;
  readonly tools: RunTools['parts'];
  readonly secrets: Pick<SecretsVault, 'take' | 'admit' | 'missing'>;
  /** null where no diagnostic passes are made. */
  readonly evidence: EvidenceBudget | null;
  /** Nothing is run before this resolves, while checks are read already. */
  readonly ready: Promise<void>;
}

/** Names of variables in one line of the log. */
const MAX_MISSING_TOLD = 20;
/** After so many the event loop goes on. */
const MISSED_A_TURN = 100;
/** How long slots wait at most until it is known whose the checks are. */
const ASK_LIMIT_MS = 5_000;
/** What is still to be delivered when all has ended is given this long, milliseconds. */
const FLUSH_LIMIT_MS = 5_000;
/** The lease ends by itself if this does not suffice. */
const RELEASE_LIMIT_MS = 3_000;
/** What each of the two is still given when the grace is over, or a second signal came. */
const LAST_WORD_MS = 1_000;

/**
 * Runs what the link's source tells of and gives the link what comes of it, from the first set of
 * checks until it is told to stop; see main.ts for its states.
 */
export class Daemon implements LinkedRuns {
  readonly #parts: DaemonParts;
  readonly #scheduler: Scheduler;
  readonly #throttled: ThrottledLog;
  readonly #sink: ResultSink;
  #state: AgentState = 'starting';
  #clientCertificates: readonly ClientCertificate[] = [];
  #proxyUrl: string | null = null;
  #location = '';
  /** What the source told, one after the other. */
  #hearing: Promise<void>;
  /** Names that templates use and nobody has, as the log was told last. */
  #missing = '';
  /** Aborts when nothing is to start any more. */
  readonly #draining = new AbortController();
  /** Of missed slots from before: ends when all are told. */
  #telling: Promise<void> = Promise.resolve();

  constructor(parts: DaemonParts) {
    const { clock, config, evidence, link, log, metrics, ready, tools, waiting } = parts;
    this.#parts = parts;
    this.#throttled = new ThrottledLog(clock, log);
    this.#hearing = ready;
    const sink = countingSink(link.sink, metrics);
    this.#sink = sink;
    const runnerParts = {
      ...tools,
      sink,
      location: () => this.#location,
      handover: link.handover,
      artifacts: link.artifacts === null ? null : limitAddTime(link.artifacts, clock),
      evidence,
      onStarved: metrics.starved,
      onShed: metrics.shed,
      onBodyWithoutRoom: metrics.bodyWithoutRoom,
    };
    this.#scheduler = new Scheduler({
      clock,
      concurrency: config.concurrency,
      maxWaiting: waiting.runs,
      run: (run) => runCheck(run, runnerParts),
      onMissed: (missed) => {
        sink.missed(missed);
        if (missed.reason === 'agent_busy' && this.#scheduler.isWaitingFull) this.#warnOfWaiting();
      },
      account: link.account,
      onStoodStill: (since) => this.#askAnew(since),
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
    metrics.bind(this.#scheduler, link.source, link.status);
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
    const { link, metrics } = this.#parts;
    const { spool, lastContactMs } = link.status();
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
      checkFileUsable: link.source.checkFileUsable,
      lastTurnMs: this.#scheduler.lastTurnMs,
    };
  }

  /**
   * Until `stopping` aborts and all has ended.
   *
   * @throws VedetteError where the source cannot go on, and whatever breaks the link's work; what
   *   was running has ended by then
   */
  async run(stop: Pick<StopSignals, 'stopping' | 'now' | 'request'>): Promise<void> {
    const { link, log, secrets } = this.#parts;
    const ended = new AbortController();
    const faults: unknown[] = [];
    const work = link.work(ended.signal).catch((error: unknown) => {
      faults.push(error);
      log.error({ err: error }, `a fault of the agent; please report it: ${messageOf(error)}`);
      // It would look healthy, and nothing of it would arrive any more.
      stop.request('what delivers the results has broken');
    });
    try {
      // A stop is obeyed at once, whatever the source is still busy with (a file on a dead mount).
      await endOrAbort(
        link.source.watch(
          {
            onChecks: (set) => this.#hear(() => this.#take(set)),
            onRun: (run) =>
              this.#hear(async () => {
                // Its check need not be one of the set.
                await secrets.admit(run.check);
                this.#runOnce(run);
              }),
          },
          stop.stopping,
        ),
        stop.stopping,
      );
    } catch (error) {
      // So the grace bounds the wait for what runs.
      if (this.#state === 'running') stop.request('the source of the checks cannot go on');
      throw error;
    } finally {
      await this.#drain(stop.now);
      await this.#hearing;
      await this.#telling;
      ended.abort();
      await work;
      await this.#close(stop.now);
    }
    if (faults.length > 0) throw faults[0];
  }

  /** In the order in which it was told, since a set may take its time to be taken. */
  #hear(act: () => Promise<void> | void): void {
    const { log } = this.#parts;
    this.#hearing = this.#hearing.then(act).catch((error: unknown) => {
      log.error({ err: error }, `a fault of the agent; please report it: ${messageOf(error)}`);
    });
  }

  async #take(set: CheckSet): Promise<void> {
    const { secrets } = this.#parts;
    // Nothing may run with a value that is not masked yet.
    await secrets.take(set);
    if (this.#state === 'draining') return;
    const { clock, link, log, metrics } = this.#parts;
    this.#tellMissing(secrets.missing(set.checks));
    this.#clientCertificates = set.clientCertificates;
    this.#proxyUrl = set.proxyUrl;
    this.#location = set.location;
    const active = set.checks.filter(({ activated }) => activated);
    // The last value of a check that is switched off would look like one that still holds.
    metrics.setChecks(active);
    this.#scheduler.setChecks(active, set.turns, set, set.answered);
    const { checks: scheduled } = this.#scheduler;
    log.info({ checks: set.checks.length, scheduled }, 'the checks are in');
    if (this.#state === 'starting') {
      this.#state = 'running';
      this.#scheduler.start();
      this.#tell(link.leftBefore(this.#scheduler.reachedMs), () => link.ledgerIsOurs());
    }
    // Slots that fell between the agent that had a check before and this one. Where a turn is late,
    // some of them may be run after all: the service goes by that.
    const startMs = Math.max(this.#scheduler.reachedMs, clock.wallMs());
    this.#tell(missedBeforeComing(set, startMs));
  }

  #tellMissing(names: readonly string[]): void {
    const told = names.slice(0, MAX_MISSING_TOLD).join(', ');
    if (told === this.#missing) return;
    this.#missing = told;
    if (names.length === 0) return;
    this.#parts.log.warn(
      { variables: names.length },
      `checks fail for want of variables: define ${told} in the account, the check file or the check, or on the agent by VARIABLES_FROM_ENV or VARIABLES_DIR`,
    );
  }

  /** Bit by bit, since checks are running beside it, and their times are to be true. */
  #tell(all: readonly MissedSlots[], onTold = (): void => {}): void {
    const tell = async (): Promise<void> => {
      for (const [index, missed] of all.entries()) {
        this.#sink.missed(missed);
        if (index % MISSED_A_TURN === MISSED_A_TURN - 1) await nextTurn();
      }
      onTold();
    };
    const { log } = this.#parts;
    this.#telling = this.#telling.then(tell).catch((error: unknown) => {
      log.error({ err: error }, `a fault of the agent; please report it: ${messageOf(error)}`);
    });
  }

  /** @returns see `SchedulerOptions.onStoodStill` */
  #askAnew(since: Moment): Promise<void> | null {
    const { link, log } = this.#parts;
    const asked = link.askAnew(since);
    if (asked === null) return null;
    log.info('the agent stood still until its lease had ended: it asks whose its checks are');
    return this.#untilApplied(asked);
  }

  /** Resolves when the answer of the source is applied; after ASK_LIMIT_MS without one the checks stay as they are. */
  async #untilApplied(answered: Promise<void>): Promise<void> {
    const { clock, log } = this.#parts;
    const limit = new AbortController();
    const cancel = clock.after(ASK_LIMIT_MS, () => limit.abort());
    const applied = answered.then(() => this.#hearing);
    await isInTime(applied, AbortSignal.any([limit.signal, this.#draining.signal]));
    cancel();
    if (limit.signal.aborted) log.warn('the service did not answer in time: the checks run on');
  }

  #warnOfWaiting(): void {
    const { runs, cure } = this.#parts.waiting;
    this.#throttled.warn(
      'waiting',
      { waiting: runs },
      `slots are missed (agent_busy): ${countText(runs, 'run waits for its target', 'runs wait for their targets')}, which is as many as may: ${cure}`,
    );
  }

  #runOnce(run: OneOff): void {
    this.#scheduler.runOnce(run, (outcome) => this.#parts.link.runEnded(run.runId, outcome));
  }

  async #drain(now: AbortSignal): Promise<void> {
    const { clock, link, log } = this.#parts;
    this.#state = 'draining';
    this.#draining.abort();
    const drained = this.#scheduler.drain(now);
    const runs = this.#scheduler.unfinished;
    if (runs > 0) log.info({ runs }, 'waiting for runs to finish, retries included');
    const limit = limitOf(clock, now, RELEASE_LIMIT_MS);
    try {
      await link.release(limit.signal);
    } finally {
      limit.cancel();
    }
    await drained;
  }

  /** Also runs that were cut short have something to tell, so this has a limit of its own. */
  async #close(now: AbortSignal): Promise<void> {
    const { clock, link, log } = this.#parts;
    // What nobody keeps is worth the whole grace.
    const isKept = link.outlivesProcess || link.status().spool === null;
    const limit = limitOf(clock, now, isKept ? FLUSH_LIMIT_MS : null);
    try {
      await link.close(limit.signal);
    } catch (error) {
      log.error({ err: error }, `results could not be written: ${messageOf(error)}`);
    } finally {
      limit.cancel();
    }
  }
}

interface Limit {
  readonly signal: AbortSignal;
  /** Leaves no timer and no listener behind. */
  cancel(): void;
}

/**
 * Aborts after `limitMs` (null: never), and in any case soon after `now` does: whoever asks twice
 * wants the end.
 */
function limitOf(clock: Clock, now: AbortSignal, limitMs: number | null): Limit {
  const limit = new AbortController();
  const end = (): void => limit.abort();
  const cancels = limitMs === null ? [] : [clock.after(limitMs, end)];
  const hurry = (): void => void cancels.push(clock.after(LAST_WORD_MS, end));
  if (now.aborted) hurry();
  else now.addEventListener('abort', hurry, { once: true });
  return {
    signal: limit.signal,
    cancel() {
      now.removeEventListener('abort', hurry);
      for (const cancel of cancels) cancel();
    },
  };
}

/** Settles as the promise does, and resolves as soon as the signal aborts. */
function endOrAbort(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    promise.then(resolve, reject);
  });
}

/** Everything that the sink takes over is counted first. */
function countingSink(sink: ResultSink, metrics: AgentMetrics): ResultSink {
  return {
    result(result) {
      metrics.finished(result);
      sink.result(result);
    },
    missed(missed) {
      metrics.missed(missed);
      sink.missed(missed);
    },
    flush: (signal) => sink.flush(signal),
  };
}
