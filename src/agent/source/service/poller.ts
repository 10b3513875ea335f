import type { Moment } from '../../../runtime/boot-clock.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { VedetteError } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { isInTime, sleep } from '../../../runtime/wait.ts';
import type { Refusal } from '../../../wire/v1/assignment.ts';
import { MAX_REFUSALS, PATHS } from '../../../wire/v1/limits.ts';
import {
  type AgentHealth,
  type Capabilities,
  type PollRequest,
  type PollResponse,
  pollResponseSchema,
} from '../../../wire/v1/poll.ts';
import { DEFAULT_LEASE_MS, pollTimeoutMs } from '../../../wire/v1/poll-timing.ts';
import { oneOffOfTrial } from '../../../wire/v1/trials.ts';
import type { PostResponse, ServiceClient } from '../../service-client/service-client.ts';
import type { ServiceFailure } from '../../service-client/service-failure.ts';
import type { CheckListener } from '../check-source.ts';
import type { AgentIdentity } from './agent-identity.ts';
import type { AssignedChecks } from './assigned-checks.ts';
import type { AssignmentStore } from './assignment-store.ts';
import { KnownOneOffs } from './known-one-offs.ts';
import { LeaseWatch } from './lease-watch.ts';
import {
  type BackoffMs,
  isEnded,
  isReplaced,
  POLL_REACTIONS,
  PollFailures,
} from './poll-failures.ts';
import { AnswerPages, TOO_MANY_CHANGES } from './poll-pages.ts';
import { NOT_RELEASED, releaseChecks } from './release-checks.ts';
import { ServiceClock } from './service-clock.ts';

/** Invalid checks of one answer that are logged one by one. */
const MAX_REFUSALS_LOGGED = 20;

/** Failures after which the next poll may succeed. */
const MAY_BE_ANSWERED: ReadonlySet<ServiceFailure['kind']> = new Set(['offline', 'busy', 'failed']);

export interface PollerOptions {
  readonly client: Pick<ServiceClient, 'post'>;
  readonly capabilities: Capabilities;
  readonly concurrency: number;
  /** How busy the agent is, asked at each poll. */
  readonly load: () => { readonly running: number; readonly queued: number };
  /** What the agent knows about itself, asked at each poll. */
  readonly health: () => AgentHealth;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Between polls that fail. Two good ones begin at least a quarter of `min` apart. */
  readonly backoffMs: BackoffMs;
  readonly identity: AgentIdentity;
  readonly assigned: AssignedChecks;
  readonly store: AssignmentStore;
  /** Called once per trial that this agent cannot read. */
  readonly onTrialRefused: (trialId: string, problem: string) => void;
}

/**
 * Polls the service, one request after another.
 *
 * | Answer | Effect |
 * |---|---|
 * | a page that others follow | it is added to the draft; the next page is requested at once |
 * | the last page | the set, its revision and its runs apply; the next poll follows |
 * | a failure | POLL_REACTIONS applies, and the set stays unchanged |
 * | the agent was ended | the set is empty from then on; polls continue every few minutes |
 */
export class Poller {
  readonly oneOffs = new KnownOneOffs();
  /** The trials that were passed on: the service repeats them until it has their ends. */
  readonly trials = new KnownOneOffs();
  readonly #options: PollerOptions;
  readonly #serviceClock: ServiceClock;
  readonly #failures: PollFailures;
  readonly #lease: LeaseWatch;
  #epoch = 0;
  #revision = 0;
  #ended: Promise<void> = Promise.resolve();
  #leaseMs = DEFAULT_LEASE_MS;
  /**
   * Aborts the current round of the loop: at the end, and for `pollForAssignments`, which needs a
   * new poll at once.
   */
  #round = new AbortController();
  /** Callbacks for when the answer to a poll of the next round, or a later one, is passed on. */
  readonly #asking: (() => void)[] = [];
  /** Callbacks for when the answer to the poll in progress is passed on. */
  readonly #answering: (() => void)[] = [];
  readonly #pages = new AnswerPages();
  /** Refused runs to report in the next poll; `assigned` has the refusals of assignments. */
  #refusedRuns: readonly Refusal[] = [];

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#serviceClock = new ServiceClock(options.clock, options.log);
    this.#failures = new PollFailures(options.log, options.backoffMs);
    this.#lease = new LeaseWatch(options.clock);
  }

  get epoch(): number {
    return this.#epoch;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Resolves when `run` has ended. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /**
   * How far this machine's clock is ahead of the service's, milliseconds; null before the first
   * answer.
   */
  get clockAheadMs(): number | null {
    return this.#serviceClock.ownAheadMs;
  }

  run(listener: CheckListener, signal: AbortSignal): Promise<void> {
    const endRound = (): void => this.#round.abort();
    signal.addEventListener('abort', endRound, { once: true });
    const running = this.#run(listener, signal).finally(() => {
      signal.removeEventListener('abort', endRound);
      return this.#options.store.close();
    });
    this.#ended = running.catch(() => {});
    return running;
  }

  /**
   * Polls at once for the current assignments if the lease ended after this moment: other agents
   * may have the checks. null if the lease is valid, or had ended before: then the checks continue.
   *
   * @returns resolves when the answer is passed on to the listener, or the service refuses to
   *   answer. Without an answer the service is polled again, so callers need a time limit. Never
   *   resolves after `run` has ended: then no check may run
   */
  pollForAssignments(since: Moment): Promise<void> | null {
    const change = this.#lease.since(since);
    if (change === 'unchanged') return null;
    if (change === 'renewed') return Promise.resolve();
    const answered = new Promise<void>((resolve) => this.#asking.push(resolve));
    // The answer to an earlier poll may be older than the end of the lease.
    this.#round.abort();
    return answered;
  }

  async release(signal: AbortSignal): Promise<void> {
    // A poll that arrives after the release would take the lease again.
    const isOver = await isInTime(this.#ended, signal);
    if (this.#epoch === 0) return;
    const { client, log, identity } = this.#options;
    if (!isOver) {
      log.warn(`${NOT_RELEASED}: the last poll did not end in time`);
      return;
    }
    const done = this.oneOffs.toAcknowledge;
    const request = { agentId: identity.agentId, epoch: this.#epoch, done };
    if (!(await releaseChecks({ client, log }, request, signal))) return;
    this.#epoch = 0;
    this.oneOffs.acknowledged(done);
  }

  async #run(listener: CheckListener, signal: AbortSignal): Promise<void> {
    const { clock, backoffMs } = this.#options;
    while (!signal.aborted) {
      if (this.#round.signal.aborted) this.#beginAnew();
      this.#round = new AbortController();
      const round = this.#round.signal;
      const sentMs = clock.monotonicMs();
      const answer = await this.#poll(round);
      if (signal.aborted) return;
      if (round.aborted && !answer.ok) continue;
      const failure = answer.ok ? await this.#take(answer, listener, signal) : answer.failure;
      if (failure?.kind === 'stopped') return;
      const delayMs = failure === null ? null : this.#react(failure, listener);
      if (failure !== null && !MAY_BE_ANSWERED.has(failure.kind)) this.#answerAsking();
      if (delayMs !== null) {
        await sleep(clock, delayMs, round);
      } else if (this.#pages.next === null) {
        // Limits the rate of polls to a service that always has changes or answers at once.
        const restMs = sentMs + backoffMs.min / 4 - clock.monotonicMs();
        if (restMs > 0) await sleep(clock, restMs, round);
      }
    }
  }

  async #poll(signal: AbortSignal): Promise<PostResponse<PollResponse>> {
    const { client, clock } = this.#options;
    const request = this.#request();
    const sentMs = clock.monotonicMs();
    this.#lease.sent();
    const answer = await client.post(PATHS.poll, request, {
      schema: pollResponseSchema,
      timeoutMs: pollTimeoutMs(this.#leaseMs),
      signal,
    });
    this.#lease.over(answer.ok ? answer.value : null);
    if (answer.ok) {
      this.oneOffs.acknowledged(request.done);
      this.#refusedRuns = [];
      this.#serviceClock.heard(answer.value.serverTime, clock.monotonicMs() - sentMs);
    }
    return answer;
  }

  #request(): PollRequest {
    const { version, capabilities, concurrency, load, health, identity, assigned } = this.#options;
    const { running, queued } = load();
    return {
      ...identity,
      version,
      capabilities,
      concurrency,
      load: { running, queued },
      revision: this.#revision,
      epoch: this.#epoch,
      page: this.#pages.next,
      done: this.oneOffs.toAcknowledge,
      refused: [...this.#refusedRuns, ...assigned.refusals].slice(0, MAX_REFUSALS),
      clockAheadMs: this.clockAheadMs,
      health: health(),
    };
  }

  /** Takes one page; the last one applies the whole answer. */
  async #take(
    { value: page, bytes }: { readonly value: PollResponse; readonly bytes: number },
    listener: CheckListener,
    signal: AbortSignal,
  ): Promise<ServiceFailure | null> {
    const { assigned, store, log } = this.#options;
    this.#leaseMs = page.leaseMs;
    // 0: the service ended this agent.
    if (this.#epoch !== 0 && page.epoch !== 0 && page.epoch !== this.#epoch) {
      log.info({ epoch: page.epoch }, 'the lease had expired; the agent has a new one');
    }
    this.#epoch = page.epoch;
    const { isFirst, leftBytes, failure } = this.#pages.open(page, bytes, this.#revision);
    if (failure === TOO_MANY_CHANGES) this.#revision = 0;
    if (failure !== null) return failure;
    const notes = await assigned.read(page, isFirst, leftBytes);
    this.#logRefused(notes.refused);
    if (notes.ignored.length > 0) {
      const what = 'settings of checks that this release does not know are ignored: upgrade it';
      log.warn({ fields: notes.ignored }, what);
    }
    const tooMany = this.#pages.add(page, bytes, notes.takenBytes);
    if (page.nextPage !== null) return tooMany;

    // Not before: an endless answer is a failure, and must increase the backoff.
    this.#failures.over();
    const runs = this.oneOffs.take(this.#pages.finish());
    this.#revision = page.revision;
    const isChanged = assigned.finish(page.location);
    // Checks that exceeded the limit may fit now, and the service does not send them again.
    if (assigned.hasMadeRoom) this.#revision = 0;
    if (isChanged) {
      store.changed();
      listener.onChecks(assigned.set);
    }
    this.#refusedRuns = runs.refused;
    this.#logRefused(runs.refused);
    for (const run of runs.runs) listener.onRun(this.#serviceClock.onOwnClock(run));
    // After the runs of the same answer.
    for (const runId of page.cancelledRuns) {
      if (this.oneOffs.cancelled(runId)) listener.onRunCancelled(runId);
    }
    this.#takeTrials(page, listener);
    this.#lease.answerPassedOn();
    this.#answerAsking();
    if (assigned.hasNewChecks) await this.#saveNewChecks(signal);
    return null;
  }

  /** Called after the checks and variables of the same answer, which a trial may need. */
  #takeTrials({ trials }: PollResponse, listener: CheckListener): void {
    const { runs, refused } = this.trials.take(trials.map(oneOffOfTrial));
    for (const trial of runs) listener.onTrial(this.#serviceClock.onOwnClock(trial));
    for (const { checkId, problem } of refused) this.#options.onTrialRefused(checkId, problem);
  }

  /**
   * Waits until the new checks are on disk. When this agent is gone, the service takes the slots up
   * to its last poll as answered, so after a restart the agent must know which checks it had by
   * then. A disk that hangs does not cost the lease: polls continue after a third of its time.
   */
  async #saveNewChecks(signal: AbortSignal): Promise<void> {
    const { clock, store, log } = this.#options;
    const limit = new AbortController();
    const cancel = clock.after(this.#leaseMs / 3, () => limit.abort());
    try {
      await store.saved(AbortSignal.any([signal, limit.signal]));
    } finally {
      cancel();
    }
    if (limit.signal.aborted)
      log.warn('the disk is slow: starting new checks before they are saved to disk');
  }

  /**
   * @returns milliseconds until the next poll
   * @throws VedetteError of code AGENT_REPLACED
   */
  #react(failure: ServiceFailure, listener: CheckListener): number {
    const { identity, log } = this.#options;
    const { kind } = failure;
    if (kind === 'stopped') return 0;
    if (isReplaced(failure)) {
      const { agentId } = identity;
      const message = `another agent has replaced this one, as both have the id ${agentId}: give each agent its own DATA_DIR, and never a copy`;
      log.error(message);
      throw new VedetteError('config', 'AGENT_REPLACED', message);
    }
    if (!POLL_REACTIONS[kind].retainsPage) this.#discardPages();
    if (kind === 'refused') this.#revision = 0;
    if (!isEnded(failure)) return this.#failures.delayAfter({ ...failure, kind });
    this.#stopChecks(listener);
    return this.#failures.delayAfter({ ...failure, kind: 'ended' });
  }

  /**
   * Polls for all checks: the service answers that at once, even if it has not seen the lease
   * expire.
   */
  #beginAnew(): void {
    this.#discardPages();
    this.#revision = 0;
    this.#answering.push(...this.#asking.splice(0));
  }

  #answerAsking(): void {
    for (const answered of this.#answering.splice(0)) answered();
  }

  #discardPages(): void {
    this.#pages.discard();
    this.#options.assigned.discard();
  }

  /** Drops all checks, also on disk: other agents have them, or nobody may run them. */
  #stopChecks(listener: CheckListener): void {
    const { assigned, store } = this.#options;
    this.#epoch = 0;
    if (!assigned.clear()) return;
    store.changed();
    listener.onChecks(assigned.set);
  }

  #logRefused(refused: readonly Refusal[]): void {
    const { log } = this.#options;
    for (const { checkId, problem } of refused.slice(0, MAX_REFUSALS_LOGGED)) {
      log.error({ checkId }, `the service assigned a check that cannot be run here: ${problem}`);
    }
    const rest = refused.length - MAX_REFUSALS_LOGGED;
    if (rest > 0) log.error({ checks: rest }, 'more assigned checks cannot be run here');
  }
}
