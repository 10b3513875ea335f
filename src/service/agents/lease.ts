import type { PollRequest } from '../../wire/v1/poll.ts';
import type { ReleaseRequest } from '../../wire/v1/release.ts';
import type { Sql, Store } from '../database/port.ts';
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
import { countAgentSlots, forgetOldestAgents } from './sql.ts';

export interface Lease {
  readonly epoch: number;
  /** The agent has to be told the whole set: what it believes to have is of another epoch. */
  readonly begins: boolean;
}

/** Renews the lease of an agent that is as it was; see `renewLeases`. */
export type Renew = (locationId: string, renewal: Renewal) => Promise<boolean>;

/**
 * Renews the agent's lease, or gives it a new one.
 *
 * | the lease is | and the poll | |
 * |---|---|---|
 * | this instance's | names its epoch | renewed |
 * | this instance's | names another epoch: the answer that told it was lost | renewed, told anew |
 * | another instance's and lasts | names an epoch: it is the older process | 409 replaced |
 * | another instance's and lasts | names none: it is the newer process | taken over, next epoch |
 * | over, given back or nobody's | | taken, next epoch |
 *
 * An ended agent gets none. Nor does one that has no place in the location (`HAS_AGENT_SLOT`) where all are
 * taken: so none that came before loses its own to it.
 *
 * @returns the reason where the agent gets none
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
  const facts = factsOf(request, leaseMs);
  const { epoch } = request;
  if (await renew(locationId, { id: key.id, epoch, facts })) return { epoch, begins: false };
  return store.transaction(async (tx): Promise<Lease | RefusalReason> => {
    // The assigner must see either the agent as it was or as it is from now on.
    const location = await lockAssignments(tx, { locationId, whenBusy: 'wait' });
    if (location === null) throw badToken();
    const before = await lockAgent(tx, key);
    if (before?.ended === true) {
      // Given by a replica of the release before, which knows no ended agents.
      if (before.held) await endAgent(tx, key);
      return 'ended';
    }
    if (before?.instanceId === request.instanceId && before.held) {
      await changeAgent(tx, { ...key, facts });
      await noteAgentChange(tx, { locationId });
      return { epoch: before.epoch, begins: before.epoch !== epoch };
    }
    if (before?.live === true && epoch > 0) throw replaced();
    if (before?.hasPlace !== true && (await countAgentSlots(tx, key)) >= limits.perLocation) {
      return 'too_many_agents';
    }
    const taken = await acquireLease(tx, { ...key, accountId, facts });
    if (before === null) await forgetOldestAgents(tx, { locationId, max: MAX_KNOWN_AGENTS });
    // So that no revision is 0, by which agents ask for all.
    await setRevision(tx, { locationId, revision: location.revision + 1 });
    await noteAgentChange(tx, { locationId });
    return { epoch: taken, begins: true };
  });
}

/**
 * Gives the lease back, so that the agent's checks move at once.
 *
 * @returns false where it was another's by then, or over
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
 * Ends the agent until it is allowed again: its lease is over at once, and its held poll learns of it.
 *
 * @returns false where the location has no such agent
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

/** What the older of two processes with one agent id is told. */
export function replaced(): ServiceError {
  return conflict(
    'Another process with the same agent id has taken over; give each agent a DATA_DIR of its own',
    { reason: 'replaced' },
  );
}

function factsOf(request: PollRequest, leaseMs: number): AgentFacts {
  const { instanceId, version, capabilities, concurrency, load, refused, clockAheadMs } = request;
  return {
    instanceId,
    version,
    capabilities,
    concurrency,
    ...load,
    refused,
    leaseMs,
    clockAheadMs,
  };
}
