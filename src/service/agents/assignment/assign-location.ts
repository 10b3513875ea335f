import { setImmediate as nextTurn } from 'node:timers/promises';
import { slotRuleOf } from '../../../model/schedule/frequency.ts';
import { type RotationRule, rotationRuleOf } from '../../../model/schedule/rotation.ts';
import { MAX_STRIDE } from '../../../wire/v1/limits.ts';
import type { Sql } from '../../database/port.ts';
import { type AgentLimits, countedConcurrency } from '../agent-limits.ts';
import { reapAgents } from '../lease.sql.ts';
import { type LiveAgent, listLiveAgents } from '../sql.ts';
import {
  type Candidate,
  type CheckRange,
  endOfRange,
  listAssigned,
  listCandidates,
  listOrphans,
  listUnassigned,
} from './candidates.sql.ts';
import type { AssignableCheck } from './capable.ts';
import {
  claimLocationChanges,
  noteGoneAgent,
  notifyLocation,
  purgeTombstones,
} from './location-changes.sql.ts';
import { type LockedLocation, listSlugs, lockAssignments, setRevision } from './lock.sql.ts';
import { assign } from './rendezvous.ts';
import {
  type AgentCheck,
  type Assignment,
  addTombstones,
  dropAssignments,
  type NewAssignment,
  putAssignments,
  renewEpochs,
} from './sql.ts';

/** Checks of the account that are read together. */
const RANGE_CHECKS = 5_000;
/** Checks that are placed together; then the event loop turns. */
const CHECKS_A_TURN = 1_000;
/**
 * Checks of agents that are gone, given to others in one transaction: their new agents hear of them
 * while the next ones are given away.
 */
const MAX_ORPHANS = 5_000;
/** Where more checks than these changed, all of the location are taken as changed. */
const MAX_NAMED = 20_000;

interface Pass extends LockedLocation {
  readonly locationId: string;
  /**
   * Of what is written next. Each turn has its own, so that an agent can be told of the changes in
   * parts, a few revisions at a time.
   */
  nextRevision: number;
  readonly agents: readonly LiveAgent[];
  readonly epochs: ReadonlyMap<string, number>;
  /** Of the account's private locations. */
  readonly slugs: ReadonlySet<string>;
  /** Whether somebody changed it: then its agent is told of it, whatever its revision is. */
  readonly isChanged: (checkId: string) => boolean;
}

/**
 * Shares the checks of a location out among its live agents, and writes what differs from before:
 * all of them where an agent came or changed, else those that were changed, and those of agents
 * that are gone: no other check moves then (rendezvous.ts). To be run in a transaction.
 *
 * @returns false where another replica is at it or was before, or the location is gone
 */
export async function assignLocation(
  tx: Sql,
  locationId: string,
  limits: AgentLimits,
): Promise<boolean> {
  const location = await lockAssignments(tx, { locationId, whenBusy: 'skip' });
  if (location === null) return false;
  const changes = await claimLocationChanges(tx, { locationId, maxChecks: MAX_NAMED });
  const reaped = await reapAgents(tx, { locationId });
  const purged = await purgeTombstones(tx, { locationId });
  const gone = [...changes.goneAgents, ...reaped];
  if (changes.count === 0 && gone.length === 0) return purged;
  const named = changes.checkIds === null ? null : new Set(changes.checkIds);
  const live = await listLiveAgents(tx, { locationId });
  const agents = live.map((agent) => ({
    ...agent,
    concurrency: countedConcurrency(agent.concurrency, limits),
  }));
  const pass: Pass = {
    ...location,
    locationId,
    nextRevision: location.revision + 1,
    agents,
    epochs: new Map(agents.map(({ id, epoch }) => [id, epoch])),
    slugs: new Set(await listSlugs(tx, location)),
    isChanged: (checkId) => named === null || named.has(checkId),
  };
  // Without any agent, why nobody has a check is another reason for all of them.
  const isWhole = changes.everything || named === null || agents.length === 0;
  let changed = isWhole ? await assignAll(tx, pass) : await assignNamed(tx, pass, [...named]);
  if (!isWhole) changed += await moveOrphans(tx, pass, gone);
  if (changed > 0) await setRevision(tx, { locationId, revision: pass.nextRevision - 1 });
  // A poll may wait for the end of this, also where it brought nothing new.
  if (changed > 0 || isWhole || gone.length > 0) await notifyLocation(tx, { locationId });
  return true;
}

/**
 * Gives some of the checks of agents that are gone to others; where there are more of them, notes
 * that once more. What changed of them was placed or dropped before, and what changes from now on is
 * noted anew: so that all but their agent is as their assignments say.
 */
async function moveOrphans(tx: Sql, pass: Pass, gone: readonly string[]): Promise<number> {
  if (gone.length === 0) return 0;
  const { locationId } = pass;
  const found = await listOrphans(tx, { locationId, agentIds: gone, limit: MAX_ORPHANS });
  let changed = await drop(tx, pass, found.deleted);
  changed += await assignInChunks(tx, pass, found.orphans, (orphan) => {
    const { slots, checkRevision: revision } = orphan.before;
    return { ...orphan, slots, revision };
  });
  if (!found.all) {
    for (const agentId of gone) await noteGoneAgent(tx, { locationId, agentId });
    return changed;
  }
  // Who could have run those that nobody has may be among the gone: then the reason is another.
  const unassigned = await listUnassigned(tx, { locationId });
  const unplaced = unassigned.filter((checkId) => !pass.isChanged(checkId));
  return changed + (await assignNamed(tx, pass, unplaced));
}

async function assignAll(tx: Sql, pass: Pass): Promise<number> {
  await renewEpochs(tx, pass);
  const { accountId } = pass;
  let changed = 0;
  for (let after: string | null = ''; after !== null; ) {
    const last: string | null = await endOfRange(tx, { accountId, after, checks: RANGE_CHECKS });
    changed += await assignRange(tx, pass, { after, last });
    after = last;
  }
  return changed;
}

async function assignNamed(tx: Sql, pass: Pass, named: readonly string[]): Promise<number> {
  let changed = 0;
  for (let from = 0; from < named.length; from += RANGE_CHECKS) {
    changed += await assignRange(tx, pass, { checkIds: named.slice(from, from + RANGE_CHECKS) });
  }
  return changed;
}

async function assignRange(tx: Sql, pass: Pass, range: CheckRange): Promise<number> {
  const candidates = await listCandidates(tx, { ...pass, range });
  const running = new Set(candidates.map(({ id }) => id));
  const gone = await listGone(tx, pass, range, running);
  const dropped = await drop(tx, pass, gone);
  const changed = await assignInChunks(tx, pass, candidates, (candidate) => {
    return { ...candidate, slots: slotsOf(candidate, pass) };
  });
  return dropped + changed;
}

async function drop(tx: Sql, pass: Pass, checkIds: readonly string[]): Promise<number> {
  if (checkIds.length === 0) return 0;
  await dropAssignments(tx, { ...pass, revision: pass.nextRevision, checkIds });
  pass.nextRevision += 1;
  return checkIds.length;
}

/** Those of a range that the location has, and that do not run there any more. */
async function listGone(
  tx: Sql,
  pass: Pass,
  range: CheckRange,
  running: ReadonlySet<string>,
): Promise<readonly string[]> {
  if (!('checkIds' in range)) {
    const assigned = await listAssigned(tx, { ...pass, range });
    return assigned.filter((id) => !running.has(id));
  }
  const checkIds = range.checkIds.filter((id) => !running.has(id));
  return checkIds.length === 0 ? [] : listAssigned(tx, { ...pass, range: { checkIds } });
}

/** A check that is to have an agent, with the slots that it has here; null where it can have none. */
interface AssignableHere extends AssignableCheck {
  readonly slots: RotationRule | null;
  readonly revision: number;
  readonly before: Assignment | null;
}

async function assignInChunks<Check>(
  tx: Sql,
  pass: Pass,
  checks: readonly Check[],
  placeable: (check: Check) => AssignableHere,
): Promise<number> {
  let changed = 0;
  for (let from = 0; from < checks.length; from += CHECKS_A_TURN) {
    changed += await place(tx, pass, checks.slice(from, from + CHECKS_A_TURN).map(placeable));
    await nextTurn();
  }
  return changed;
}

async function place(tx: Sql, pass: Pass, checks: readonly AssignableHere[]): Promise<number> {
  const { owners, unassigned } = assign(checks, pass.agents);
  const places: NewAssignment[] = [];
  const lost: AgentCheck[] = [];
  for (const { id: checkId, slots, revision: checkRevision, before } of checks) {
    const agentId = slots === null ? null : (owners.get(checkId) ?? null);
    const reason = slots === null ? 'too_many_locations' : (unassigned.get(checkId) ?? null);
    const next: NewAssignment = {
      checkId,
      agentId,
      agentEpoch: agentId === null ? null : (pass.epochs.get(agentId) ?? null),
      unassignedReason: agentId === null ? reason : null,
      slots: slots ?? WITHOUT_TURN,
      checkRevision,
    };
    if (isSame(before, next) && !pass.isChanged(checkId)) continue;
    places.push(next);
    const loser = before?.agentId ?? null;
    if (loser !== null && loser !== agentId && pass.epochs.has(loser)) {
      lost.push({ agentId: loser, checkId });
    }
  }
  const { locationId, accountId, nextRevision: revision } = pass;
  await addTombstones(tx, { locationId, revision, lost });
  await putAssignments(tx, { locationId, accountId, revision, places });
  if (places.length > 0) pass.nextRevision += 1;
  return places.length;
}

/** For a check that nobody runs here, so that its row has some. */
const WITHOUT_TURN: RotationRule = { periodMs: 86_400_000, phaseMs: 0, stride: 1, index: 0 };

/** null for the locations after the last one that can take turns. */
function slotsOf(check: Candidate, { slugs, slug }: Pass): RotationRule | null {
  const rule = slotRuleOf(check.id, check.frequency, check.frequencyOffset);
  const locations = [...new Set(check.slugs)].filter((each) => slugs.has(each));
  return rotationRuleOf(rule, check.runParallel, locations.slice(0, MAX_STRIDE), slug);
}

function isSame(before: Assignment | null, next: NewAssignment): boolean {
  return (
    before !== null &&
    before.agentId === next.agentId &&
    before.unassignedReason === next.unassignedReason &&
    before.checkRevision === next.checkRevision &&
    before.slots.periodMs === next.slots.periodMs &&
    before.slots.phaseMs === next.slots.phaseMs &&
    before.slots.stride === next.slots.stride &&
    before.slots.index === next.slots.index
  );
}
