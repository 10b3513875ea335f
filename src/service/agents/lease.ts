import type { PollRequest } from '../../wire/v1/poll.ts';
import type { ReleaseRequest } from '../../wire/v1/release.ts';
import type { Sql, Store } from '../database/store.ts';
import { badToken, conflict, type ServiceError } from '../errors.ts';
import type { AgentCaller } from '../private-locations/location-keys.ts';
import { type AgentLimits, MAX_KNOWN_AGENTS } from './agent-limits.ts';
import type { RefusalReason } from './agent-refusals.ts';
import {
  noteAgentChange,
  noteGoneAgent,
  notifyLocation,
} from './assignment/location-changes.sql.ts';
import { lockAssignments, setRevision } from './assignment/lock.sql.ts';
import { answerFromAssignmentOn } from './assignment/sql.ts';
import {
  type AgentFacts,
  type AgentKey,
  acquireLease,
  changeAgent,
  endLease,
  lockAgent,
  markAgentEnded,
  type Renewal,
} from './lease.sql.ts';
import { countLimitedAgents, deleteOldestAgents } from './sql.ts';

export interface Lease {
  readonly epoch: number;
  /** The agent must get the whole set: what it has belongs to another epoch. */
  readonly begins: boolean;
}

/** `renewLeases` for one agent. */
export type Renew = (locationId: string, renewal: Renewal) => Promise<boolean>;

/**
 * Renews the agent's lease, or gives it a new one.
 *
 * | the lease | the poll | |
 * |---|---|---|
 * | is this instance's | names its epoch | renewed |
 * | is this instance's | names another epoch: the answer with the epoch was lost | renewed, whole set sent |
 * | is live and another instance's | names an epoch: it is the older process | 409 replaced |
 * | is live and another instance's | names none: it is the newer process | taken over, next epoch |
 * | is over, given back or nobody's | | acquired, next epoch |
 *
 * An ended agent gets no lease. Neither does an agent without a slot (`COUNTS_TOWARDS_LIMIT`) in a full
 * location: it cannot displace another.
 *
 * @returns the reason if the agent gets no lease
 * @throws ServiceError 401 where the location is gone, 409 as above
 */
export async function renewOrAcquireLease(
  {
    store,
    renew,
    leaseMs,
    limits,
  }: {
    readonly store: Store;
    readonly renew: Renew;
    readonly leaseMs: number;
    readonly limits: AgentLimits;
  },
  { accountId, locationId }: AgentCaller,
  request: PollRequest,
): Promise<Lease | RefusalReason> {
  const key = { locationId, id: request.agentId };
  const facts: AgentFacts = { ...request, ...request.load, leaseMs };
  const { epoch } = request;
  if (await renew(locationId, { id: key.id, epoch, facts })) return { epoch, begins: false };
  return store.transaction(async (tx): Promise<Lease | RefusalReason> => {
    // The assigner must see the agent either before or after this transaction.
    const location = await lockAssignments(tx, { locationId, whenBusy: 'wait' });
    if (location === null) throw badToken();
    const before = await lockAgent(tx, key);
    if (before?.ended === true) {
      // A replica of the previous release, which does not know ended agents, gave it this lease.
      if (before.held) await endAgent(tx, key);
      return 'ended';
    }
    if (before?.instanceId === request.instanceId && before.held) {
      await changeAgent(tx, { ...key, facts });
      await noteAgentChange(tx, { locationId });
      return { epoch: before.epoch, begins: before.epoch !== epoch };
    }
    if (before?.live === true && epoch > 0) throw replaced();
    if (
      before?.hasAgentSlot !== true &&
      (await countLimitedAgents(tx, key)) >= limits.perLocation
    ) {
      return 'too_many_agents';
    }
    const acquired = await acquireLease(tx, { ...key, accountId, facts });
    if (before !== null && before.instanceId !== request.instanceId) {
      await answerFromAssignmentOn(tx, { locationId, agentId: key.id });
    }
    if (before === null) await deleteOldestAgents(tx, { locationId, max: MAX_KNOWN_AGENTS });
    // Agents ask for the whole set with revision 0, so the revision must not be 0.
    await setRevision(tx, { locationId, revision: location.revision + 1 });
    await noteAgentChange(tx, { locationId });
    return { epoch: acquired, begins: true };
  });
}

/**
 * Gives the lease back: the agent's checks are reassigned at once.
 *
 * @returns false if another process had the lease, or if it had expired
 */
export async function releaseLease(
  store: Store,
  { locationId }: AgentCaller,
  { agentId, epoch }: ReleaseRequest,
): Promise<boolean> {
  return store.transaction(async (tx) => {
    const location = await lockAssignments(tx, { locationId, whenBusy: 'wait' });
    if (location === null) return false;
    const released = await endLease(tx, { locationId, id: agentId, epoch });
    if (released) await noteGoneAgent(tx, { locationId, agentId });
    return released;
  });
}

/**
 * Ends the agent until it is allowed again: ends its lease, and wakes its held poll.
 *
 * @returns false if the location has no such agent
 */
export async function endAgent(tx: Sql, key: AgentKey): Promise<boolean> {
  const { locationId, id: agentId } = key;
  const ended = await markAgentEnded(tx, key);
  if (ended === null) return false;
  if (!ended.wasHeld) return true;
  await noteGoneAgent(tx, { locationId, agentId });
  await notifyLocation(tx, { locationId });
  return true;
}

/** The answer to the older of two processes with one agent id. */
export function replaced(): ServiceError {
  return conflict(
    'Another process with the same agent id has taken over; give each agent its own DATA_DIR',
    { reason: 'replaced' },
  );
}
