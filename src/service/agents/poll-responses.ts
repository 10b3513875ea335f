import type { OwnVariable } from '../../model/check/variable.ts';
import { batched } from '../../runtime/batched.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LruCache } from '../../runtime/lru-cache.ts';
import type { OneOffMessage } from '../../wire/v1/assignment.ts';
import { MAX_ONE_OFFS } from '../../wire/v1/limits.ts';
import type { LocationSettings, PollRequest, PollResponse } from '../../wire/v1/poll.ts';
import { pollHoldMs } from '../../wire/v1/poll-timing.ts';
import type { TrialMessage } from '../../wire/v1/trials.ts';
import type { CheckRuns, LeaseHolder } from '../check-runs/check-runs.ts';
import type { CheckTrials } from '../check-trials/check-trials.ts';
import type { CheckVariables } from '../checks/variables/check-variables.ts';
import type { Sql, Store } from '../database/store.ts';
import { badToken } from '../errors.ts';
import type { AgentCaller } from '../private-locations/location-keys.ts';
import type { ProxyPasswords } from '../private-locations/proxy-passwords.ts';
import { type AgentPosition, readPositions } from './agent-share.sql.ts';
import { holdUntil, type LocationWake } from './assignment/location-wake.ts';
import { type Lease, replaced } from './lease.ts';
import {
  assignmentDelta,
  firstPage,
  furtherPage,
  type PageMarker,
  type SentChecks,
} from './sent-checks.ts';
import type { AgentOfLocation } from './sql.ts';

export interface PollResponsesParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly wake: LocationWake;
  readonly checkRuns: Pick<CheckRuns, 'claim' | 'toBeCancelled'>;
  readonly checkTrials: Pick<CheckTrials, 'claim'>;
  readonly checkVariables: Pick<CheckVariables, 'open'>;
  readonly proxyPasswords: Pick<ProxyPasswords, 'open'>;
  readonly leaseMs: number;
  /** Reads the settings that apply to all checks in the account's locations. */
  readonly settingsOf: (sql: Sql, accountId: string) => Promise<SentSettings>;
}

interface SentSettings {
  readonly settings: LocationSettings;
  readonly variables: OwnVariable[];
  /** Names of secret variables that cannot be decrypted. */
  readonly unreadableVariables: string[];
}

/** A poll of an agent with a lease. */
interface Poll {
  readonly who: LeaseHolder;
  readonly request: PollRequest;
  readonly lease: Lease;
}

/** The answers to the polls of agents. */
export interface PollResponses {
  /** Waits until something changes for the agent, `pollHoldMs(leaseMs)` are over or the signal aborts. */
  hold(poll: Poll, signal: AbortSignal): Promise<PollResponse>;
  furtherPage(poll: Poll, marker: PageMarker): Promise<PollResponse | 'ended'>;
  /** The last answer to an agent that was ended. */
  withoutChecks(caller: InLocation, agentId: string): Promise<PollResponse>;
}

type InLocation = Pick<AgentCaller, 'accountId' | 'locationId'>;

/** The result of one read of the database for a poll. */
interface Found {
  readonly position: AgentPosition;
  readonly checks: SentChecks;
  readonly runs: readonly OneOffMessage[];
  readonly trials: readonly TrialMessage[];
  /** The ids of one-offs that the agent is to end. */
  readonly cancelledRuns: readonly string[];
  /** Whether this ends the hold of the poll. */
  readonly isNews: boolean;
}

type OneOffs = Pick<Found, 'runs' | 'trials' | 'cancelledRuns'>;
const NOTHING: OneOffs = { runs: [], trials: [], cancelledRuns: [] };

/** Maximum size of the JSON of one-offs in an answer. */
const MAX_RUNS_BYTES = 4 * 1024 * 1024;
/** Maximum number of agents whose sent one-offs and trials are cached. */
const MAX_AGENTS = 10_000;

/** Makes the agent keep the settings and variables that it has. */
const UNCHANGED_SETTINGS = { settings: null, variables: null, unreadableVariables: [] };

export function createPollResponses(parts: PollResponsesParts): PollResponses {
  const { store, clock, wake, checkRuns, checkTrials, checkVariables, leaseMs, settingsOf } = parts;
  const { proxyPasswords } = parts;
  const source = { sql: store, checkVariables };
  /**
   * The keys (`sentIn`) of the one-offs, trials and cancelled runs that this process last sent to each agent.
   * Every answer repeats them until they have ended, but only one that was not sent before ends the hold of
   * a poll.
   */
  const sentRuns = new LruCache<ReadonlySet<string>>(MAX_AGENTS);
  const positionIn = batched(async (locationId, agentIds: readonly string[]) => {
    const positions = await readPositions(store, { locationId, agentIds });
    // Deleting a location deletes its keys, but an authenticated key stays cached for a while.
    if (positions === null) throw badToken();
    return positions;
  });
  const settingsFor = batched(async (accountId, asked: readonly null[]) => {
    const settings = await settingsOf(store, accountId);
    return asked.map(() => settings);
  });

  const readPosition = async (
    { locationId, agentId }: LeaseHolder,
    { instanceId }: PollRequest,
  ): Promise<AgentPosition> => {
    const position = await positionIn(locationId, agentId);
    if (position.live && position.instanceId !== instanceId) throw replaced();
    return position;
  };

  const claimRuns = async (
    who: LeaseHolder,
    { openRuns }: AgentPosition,
  ): Promise<readonly OneOffMessage[]> => {
    return openRuns ? fitting(await checkRuns.claim(store, who)) : [];
  };

  const claimTrials = async (
    who: LeaseHolder,
    { openTrials }: AgentPosition,
    { capabilities }: PollRequest,
  ): Promise<readonly TrialMessage[]> => {
    return openTrials && capabilities.trials === true ? checkTrials.claim(store, who) : [];
  };

  /** Call it after the runs are read: a run cancelled in between is then sent and cancelled in the same answer. */
  const findCancelled = async (
    who: LeaseHolder,
    { cancelledRuns }: AgentPosition,
  ): Promise<readonly string[]> => {
    return cancelledRuns ? checkRuns.toBeCancelled(store, who) : [];
  };

  const response = (
    { accountId, locationId }: InLocation,
    { position, checks, runs, trials, cancelledRuns }: Omit<Found, 'isNews'>,
    epoch: number,
    settings: SentSettings | typeof UNCHANGED_SETTINGS,
  ): PollResponse => ({
    ...checks,
    upsert: [...checks.upsert],
    remove: [...checks.remove],
    epoch,
    leaseMs,
    serverTime: clock.wallMs(),
    location: {
      slug: position.slug,
      proxyUrl: proxyPasswords.open({ accountId, id: locationId }, position),
      ...settings,
    },
    runs: [...runs],
    trials: [...trials],
    cancelledRuns: [...cancelledRuns],
  });

  const answer = async (
    { who, request, lease }: Poll,
    found: Omit<Found, 'isNews'>,
  ): Promise<PollResponse> => {
    const { position, checks } = found;
    const sent = sentIn(found);
    if (sent.length === 0) sentRuns.delete(keyOf(who));
    else sentRuns.set(keyOf(who), new Set(sent), 1);
    // Agents apply the settings of the last page of a set.
    const isKnown =
      checks.nextPage !== null || (!checks.full && request.revision >= position.settingsRevision);
    const settings = isKnown ? UNCHANGED_SETTINGS : await settingsFor(who.accountId, null);
    return response(who, found, lease.epoch, settings);
  };

  const emptied = (who: InLocation, position: AgentPosition): PollResponse => {
    const checks = { ...unchanged(0), full: true };
    return response(who, { ...NOTHING, position, checks }, 0, UNCHANGED_SETTINGS);
  };

  /** null if it does not fit into one answer. */
  const changedSince = async (
    who: LeaseHolder,
    { revision: since }: PollRequest,
    { revision: to, changedRevision }: AgentPosition,
  ): Promise<SentChecks | null> => {
    // The case for nearly all polls that are woken; saves two statements.
    if (changedRevision <= since) return unchanged(to);
    return assignmentDelta(source, who, { since, to });
  };

  const find = async ({ who, request, lease }: Poll, isLast: boolean): Promise<Found> => {
    const position = await readPosition(who, request);
    const runs = await claimRuns(who, position);
    const trials = await claimTrials(who, position, request);
    const cancelledRuns = await findCancelled(who, position);
    const oneOffs = { runs, trials, cancelledRuns };
    const { epoch } = lease;
    if (position.epoch !== epoch || !position.held) {
      // The agent has since given the lease back, or acquired a new one with another poll.
      const checks = unchanged(request.revision);
      return { ...NOTHING, position, checks, isNews: true };
    }
    const { revision } = position;
    const isWhole =
      lease.begins ||
      request.revision === 0 ||
      request.revision < position.purgedRevision ||
      request.revision > revision;
    // The agent's share is not known yet; an empty one would make it stop what it runs.
    if (isWhole && position.pending && !isLast) {
      return { position, checks: unchanged(request.revision), ...oneOffs, isNews: false };
    }
    const delta = isWhole ? null : await changedSince(who, request, position);
    const sent = delta ?? (await firstPage(source, who, { revision, epoch }));
    // The poll ends before the checks are assigned: the agent keeps what it has, and asks for all again.
    const isUnknown = position.pending && sent.full && sent.upsert.length === 0;
    const checks = isUnknown ? unchanged(0) : sent;
    const sentBefore = sentRuns.get(keyOf(who));
    const isNews =
      checks.full ||
      checks.upsert.length + checks.remove.length > 0 ||
      position.settingsRevision > request.revision ||
      sentIn(oneOffs).some((id) => sentBefore?.has(id) !== true);
    return { position, checks, ...oneOffs, isNews };
  };

  return {
    hold(poll, signal) {
      const { locationId } = poll.who;
      const look = async (isLast: boolean): Promise<PollResponse | null> => {
        const found = await find(poll, isLast);
        if (found.position.ended) return emptied(poll.who, found.position);
        return found.isNews || isLast ? answer(poll, found) : null;
      };
      return holdUntil({ wake, locationId, clock, holdMs: pollHoldMs(leaseMs) }, look, signal);
    },

    async furtherPage(poll, marker) {
      const position = await readPosition(poll.who, poll.request);
      if (position.ended) return 'ended';
      const checks = await furtherPage(source, poll.who, marker, poll.lease.epoch);
      const runs = await claimRuns(poll.who, position);
      const trials = await claimTrials(poll.who, position, poll.request);
      const cancelledRuns = await findCancelled(poll.who, position);
      return answer(poll, { position, checks, runs, trials, cancelledRuns });
    },

    async withoutChecks(caller, agentId) {
      return emptied(caller, await positionIn(caller.locationId, agentId));
    },
  };
}

function keyOf({ locationId, agentId }: AgentOfLocation): string {
  return `${locationId} ${agentId}`;
}

/** The keys of what an answer sends. A run and its cancellation have separate keys. */
function sentIn({ runs, trials, cancelledRuns }: OneOffs): readonly string[] {
  return [
    ...runs.map(({ runId }) => runId),
    ...trials.map(({ trialId }) => trialId),
    ...cancelledRuns.map((id) => `cancelled ${id}`),
  ];
}

function unchanged(revision: number): SentChecks {
  return { revision, full: false, upsert: [], remove: [], nextPage: null };
}

/** As many as fit into an answer; the others come with the next ones. */
function fitting(runs: readonly OneOffMessage[]): readonly OneOffMessage[] {
  let bytes = 0;
  return runs.slice(0, MAX_ONE_OFFS).filter((run, index) => {
    bytes += Buffer.byteLength(JSON.stringify(run));
    return bytes <= MAX_RUNS_BYTES || index === 0;
  });
}
