import type { OwnVariable } from '../../model/check/variable.ts';
import { batched } from '../../runtime/batched.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { OneOffMessage } from '../../wire/v1/assignment.ts';
import { MAX_ONE_OFFS, pollHoldMs } from '../../wire/v1/limits.ts';
import type { LocationSettings, PollRequest, PollResponse } from '../../wire/v1/poll.ts';
import type { ReleaseRequest, ReleaseResponse } from '../../wire/v1/release.ts';
import type { CheckRuns, LeaseHolder } from '../check-runs/check-runs.ts';
import type { CheckVariables } from '../checks/check-variables.ts';
import type { Sql, Store } from '../database/port.ts';
import { badToken, invalid, notFound } from '../errors.ts';
import { bodyProblem } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import { findPrivateLocation, type LocationKeyOf } from '../private-locations/exports.ts';
import type { AgentCaller } from '../private-locations/location-keys.ts';
import type { ProxyPasswords } from '../private-locations/proxy-passwords.ts';
import { type AgentLimits, countedConcurrency, DEFAULT_AGENT_LIMITS } from './agent-limits.ts';
import { AgentRefusals, type RefusalReason } from './agent-refusals.ts';
import type { LocationWake } from './assignment/location-wake.ts';
import { lockAssignments } from './assignment/lock.sql.ts';
import { allowAgent, type Renewal, renewLeases } from './lease.sql.ts';
import { endAgent, type Lease, releaseLease, renewOrAcquireLease, replaced } from './lease.ts';
import { pageMarkerOf } from './page-marker.ts';
import { deltaOf, firstPage, furtherPage, type SentChecks } from './sent-checks.ts';
import { SentRuns } from './sent-runs.ts';
import { type AgentPosition, readStandings } from './share.sql.ts';
import { type KnownAgent, listAgents } from './sql.ts';

export interface AgentsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly wake: LocationWake;
  readonly checkRuns: Pick<CheckRuns, 'claim' | 'close'>;
  readonly checkVariables: Pick<CheckVariables, 'open'>;
  readonly proxyPasswords: Pick<ProxyPasswords, 'open'>;
  readonly leaseMs: number;
  /** Left out, DEFAULT_AGENT_LIMITS. */
  readonly agentLimits?: AgentLimits;
  /** What holds for all checks of the account's locations. */
  readonly settingsOf: (sql: Sql, accountId: string) => Promise<SentSettings>;
  /** Takes the account's secrets out of a text of its agents. */
  readonly scrubberOf: (sql: Sql, accountId: string) => Promise<Pick<Scrubber, 'text'>>;
}

export interface SentSettings {
  readonly settings: LocationSettings;
  readonly variables: OwnVariable[];
}

/** The agents of private locations. */
export interface Agents {
  /**
   * One poll, which renews the lease. It is held until something changes for the agent, at most
   * `pollHoldMs(leaseMs)`, and ends at once when the signal aborts, with what there is.
   *
   * An ended agent that believes to hold a lease is told first that it has no check any more: agents of
   * the release before would run theirs on at any error.
   *
   * @throws ServiceError 409 with the attribute `reason`: `replaced` where another process has the
   *   agent's lease by now, `too_many_agents` where the location has no place for it, `ended` where an
   *   operator ended it; 400 for a page marker that is none; 401 where the location is gone
   */
  poll(caller: AgentCaller, request: PollRequest, signal: AbortSignal): Promise<PollResponse>;
  release(caller: AgentCaller, request: ReleaseRequest): Promise<ReleaseResponse>;
  /** Those that came first, first; also those that are gone, for a month, and those that were ended. */
  list(accountId: string, locationId: string, page: Page): Promise<readonly ListedAgent[]>;
  /**
   * Ends an agent: its checks move at once, and its polls are refused until it is allowed again. Its
   * results are still taken in. Done again, it changes nothing.
   *
   * @throws ServiceError 404 where the location or the agent is not there
   */
  end(accountId: string, locationId: string, agentId: string): Promise<void>;
  /**
   * Lets an ended agent poll again; one that was not ended stays as it is.
   *
   * @throws ServiceError 404 where the location or the agent is not there
   */
  allow(accountId: string, locationId: string, agentId: string): Promise<void>;
  /** Polls refused since the start, by reason. */
  readonly refusals: Readonly<Record<RefusalReason, number>>;
}

export interface ListedAgent extends KnownAgent {
  /** What of its concurrency counts for its share. */
  readonly countedConcurrency: number;
}

/** Of the JSON of one-offs in an answer. */
const MAX_RUNS_BYTES = 4 * 1024 * 1024;

const UNTOLD = { settings: null, variables: null };

interface Poll {
  readonly who: LeaseHolder;
  readonly request: PollRequest;
  readonly lease: Lease;
}

/** What one look at the database gave. */
interface Found {
  readonly standing: AgentPosition;
  readonly checks: SentChecks;
  readonly runs: readonly OneOffMessage[];
  /** Something that the agent should be told at once. */
  readonly isNews: boolean;
}

export function createAgents(parts: AgentsParts): Agents {
  const { store, clock, wake, checkRuns, checkVariables, leaseMs, settingsOf, scrubberOf } = parts;
  const { proxyPasswords } = parts;
  const limits = parts.agentLimits ?? DEFAULT_AGENT_LIMITS;
  const refusals = new AgentRefusals({ ...parts, limits });
  const shelf = { sql: store, checkVariables };
  const toldRuns = new SentRuns();
  const renew = batched((locationId, renewals: readonly Renewal[]) =>
    renewLeases(store, { locationId, renewals }),
  );
  const standingIn = batched(async (locationId, agentIds: readonly string[]) => {
    const standings = await readStandings(store, { locationId, agentIds });
    // The keys went with the location; one that was just looked up is remembered for a while.
    if (standings === null) throw badToken();
    return standings;
  });
  const settingsFor = batched(async (accountId, asked: readonly null[]) => {
    const settings = await settingsOf(store, accountId);
    return asked.map(() => settings);
  });

  const readStanding = async (
    { locationId, agentId }: LeaseHolder,
    { instanceId }: PollRequest,
  ): Promise<AgentPosition> => {
    const standing = await standingIn(locationId, agentId);
    const { lease } = standing;
    if (lease?.live === true && lease.instanceId !== instanceId) throw replaced();
    return standing;
  };

  const claimed = async (
    who: LeaseHolder,
    { openRuns }: AgentPosition,
  ): Promise<readonly OneOffMessage[]> => {
    return openRuns ? fitting(await checkRuns.claim(store, who)) : [];
  };

  const answer = async (poll: Poll, { standing, checks, runs }: Found): Promise<PollResponse> => {
    toldRuns.told(
      poll.who,
      runs.map(({ runId }) => runId),
    );
    // Agents take those of the last page.
    const isKnown =
      checks.nextPage !== null ||
      (!checks.full && poll.request.revision >= standing.settingsRevision);
    const told = isKnown ? UNTOLD : await settingsFor(poll.who.accountId, null);
    return {
      ...checks,
      upsert: [...checks.upsert],
      remove: [...checks.remove],
      epoch: poll.lease.epoch,
      leaseMs,
      serverTime: clock.wallMs(),
      location: {
        slug: standing.slug,
        proxyUrl: proxyPasswords.open(locationOf(poll.who), standing),
        ...told,
      },
      runs: [...runs],
    };
  };

  /** The last answer under its lease to an agent that was ended. */
  const withoutChecks = (who: InLocation, standing: AgentPosition): PollResponse => ({
    revision: 0,
    full: true,
    upsert: [],
    remove: [],
    nextPage: null,
    epoch: 0,
    leaseMs,
    serverTime: clock.wallMs(),
    location: {
      slug: standing.slug,
      proxyUrl: proxyPasswords.open(locationOf(who), standing),
      ...UNTOLD,
    },
    runs: [],
  });

  /** null where it does not fit into one answer. */
  const changedSince = async (
    who: LeaseHolder,
    { revision: since }: PollRequest,
    { revision: to, changedRevision }: AgentPosition,
  ): Promise<SentChecks | null> => {
    // Of nearly all that are woken this is known without another look.
    if (changedRevision <= since) return unchanged(to);
    return deltaOf(shelf, who, { since, to });
  };

  const look = async ({ who, request, lease }: Poll, isLast: boolean): Promise<Found> => {
    const standing = await readStanding(who, request);
    const runs = await claimed(who, standing);
    const { epoch } = lease;
    if (standing.lease?.epoch !== epoch || !standing.lease.held) {
      // It gave the lease back meanwhile, or polled once more and began anew: nothing for this one.
      return { standing, checks: unchanged(request.revision), runs: [], isNews: true };
    }
    const { revision } = standing;
    const isWhole =
      lease.begins ||
      request.revision === 0 ||
      request.revision < standing.purgedRevision ||
      request.revision > revision;
    // Its share is not known yet, and to be told of none would make it stop what it runs.
    if (isWhole && standing.pending && !isLast) {
      return { standing, checks: unchanged(request.revision), runs, isNews: false };
    }
    const delta = isWhole ? null : await changedSince(who, request, standing);
    const told = delta ?? (await firstPage(shelf, who, { revision, epoch }));
    // The poll ends before the checks are shared out: it keeps what it has, and asks for all again.
    const isUnknown = standing.pending && told.full && told.upsert.length === 0;
    const checks = isUnknown ? unchanged(0) : told;
    const isNews =
      checks.full ||
      checks.upsert.length + checks.remove.length > 0 ||
      standing.settingsRevision > request.revision ||
      toldRuns.hasNew(
        who,
        runs.map(({ runId }) => runId),
      );
    return { standing, checks, runs, isNews };
  };

  const hold = async (poll: Poll, signal: AbortSignal): Promise<PollResponse> => {
    const untilMs = clock.monotonicMs() + pollHoldMs(leaseMs);
    const ended = new AbortController();
    const end = (): void => ended.abort();
    signal.addEventListener('abort', end, { once: true });
    try {
      for (;;) {
        const leftMs = untilMs - clock.monotonicMs();
        const isLast = leftMs <= 0 || signal.aborted;
        const woken = wake.wait(poll.who.locationId, Math.max(0, leftMs), ended.signal);
        const found = await look(poll, isLast);
        if (found.standing.ended) return withoutChecks(poll.who, found.standing);
        if (found.isNews || isLast) return await answer(poll, found);
        await woken;
      }
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
  };

  /** Why agents could not read checks may repeat what is in them. */
  const scrubbed = async (accountId: string, request: PollRequest): Promise<PollRequest> => {
    if (request.refused.length === 0) return request;
    const scrubber = await scrubberOf(store, accountId);
    const refused = request.refused.map((one) => ({
      ...one,
      problem: scrubber.text(one.problem),
    }));
    return { ...request, refused };
  };

  return {
    async poll(caller, sent, signal) {
      const { accountId, locationId } = caller;
      const request = await scrubbed(accountId, sent);
      const marker = request.page === null ? null : pageMarkerOf(request.page);
      if (request.page !== null && marker === null) {
        throw invalid([bodyProblem(['page'], 'must be the nextPage of the previous response')]);
      }
      const { agentId, done } = request;
      const lease = await renewOrAcquireLease({ store, renew, leaseMs, limits }, caller, request);
      if (typeof lease === 'string') {
        // In the middle of its pages, an answer would end the draft that the pages before began.
        const believesInLease = request.epoch > 0 && marker === null;
        if (lease !== 'ended' || !believesInLease) {
          throw refusals.refuse(lease, { locationId, agentId });
        }
        return withoutChecks(caller, await standingIn(locationId, agentId));
      }
      const who = { accountId, locationId, agentId, epoch: lease.epoch };
      if (done.length > 0) await checkRuns.close(store, who, done);
      const poll = { who, request, lease };
      if (marker === null) return hold(poll, signal);
      const standing = await readStanding(who, request);
      if (standing.ended) throw refusals.refuse('ended', who);
      const checks = await furtherPage(shelf, who, marker, lease.epoch);
      const runs = await claimed(who, standing);
      return answer(poll, { standing, checks, runs, isNews: true });
    },

    async release(caller, request) {
      const { accountId, locationId } = caller;
      const { agentId, epoch, done } = request;
      const who = { accountId, locationId, agentId, epoch };
      if (done.length > 0) await checkRuns.close(store, who, done);
      return { released: await releaseLease(store, caller, request) };
    },

    async list(accountId, locationId, page) {
      await requireLocation(store, accountId, locationId);
      const found = await listAgents(store, { accountId, locationId, ...rangeOf(page) });
      return found.map((agent) => ({
        ...agent,
        countedConcurrency: countedConcurrency(agent.concurrency, limits),
      }));
    },

    end: (accountId, locationId, id) =>
      store.transaction(async (tx) => {
        await requireLocation(tx, accountId, locationId);
        // Its poll may be about to take a lease.
        await lockAssignments(tx, { locationId, whenBusy: 'wait' });
        if (!(await endAgent(tx, { locationId, id }))) throw notFound('agent');
      }),

    async allow(accountId, locationId, id) {
      await requireLocation(store, accountId, locationId);
      if (!(await allowAgent(store, { locationId, id }))) throw notFound('agent');
    },

    refusals: refusals.counts,
  };
}

async function requireLocation(sql: Sql, accountId: string, id: string): Promise<void> {
  if ((await findPrivateLocation(sql, { accountId, id })) === null) {
    throw notFound('private location');
  }
}

type InLocation = Pick<AgentCaller, 'accountId' | 'locationId'>;

function locationOf({ accountId, locationId }: InLocation): LocationKeyOf {
  return { accountId, id: locationId };
}

function unchanged(revision: number): SentChecks {
  return { revision, full: false, upsert: [], remove: [], nextPage: null };
}

/** As many as an answer takes; the others come with the next ones. */
function fitting(runs: readonly OneOffMessage[]): readonly OneOffMessage[] {
  let bytes = 0;
  const fit = runs.slice(0, MAX_ONE_OFFS).filter((run, index) => {
    bytes += Buffer.byteLength(JSON.stringify(run));
    return bytes <= MAX_RUNS_BYTES || index === 0;
  });
  return fit;
}
