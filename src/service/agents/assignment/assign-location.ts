import type { AssignableCheck } from '../../../model/assignment/capable-agents.ts';
import { assign } from '../../../model/assignment/rendezvous.ts';
import { type RotationRule, rotationRuleOf } from '../../../model/schedule/rotation.ts';
import { slotRuleOf } from '../../../model/schedule/slot-rule.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import { MAX_STRIDE } from '../../../wire/v1/limits.ts';
import type { Sql } from '../../database/store.ts';
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
import {
  claimLocationChanges,
  noteGoneAgent,
  notifyLocation,
  purgeTombstones,
} from './location-changes.sql.ts';
import { type LockedLocation, listSlugs, lockAssignments, setRevision } from './lock.sql.ts';
import {
  type AgentAssignment,
  type AgentCheck,
  addTombstones,
  dropAssignments,
  type NewAssignment,
  putAssignments,
  renewEpochs,
} from './sql.ts';

/** Maximum number of checks that one statement reads. */
const RANGE_CHECKS = 5_000;
/** Checks that are assigned between two yields to the event loop, with one revision. */
const CHUNK_CHECKS = 1_000;
/**
 * Maximum number of checks of gone agents that one transaction reassigns: their new agents receive these
 * while the next transaction runs.
 */
const MAX_ORPHANS = 5_000;
/** If more checks changed than this, all checks of the location count as changed. */
const MAX_NAMED = 20_000;

interface Pass extends LockedLocation {
  readonly locationId: string;
  /** The revision of the next chunk. Each chunk has its own, so that an answer can contain only some chunks. */
  nextRevision: number;
  readonly agents: readonly LiveAgent[];
  readonly epochs: ReadonlyMap<string, number>;
  /** The slugs of the account's private locations. */
  readonly slugs: ReadonlySet<string>;
  /** Whether a user changed the check: then it is sent to its agent, whatever its revision is. */
  readonly isChanged: (checkId: string) => boolean;
}

/**
 * Assigns the checks of a location to its live agents, and writes only the differences. Assigns all checks
 * if an agent is new or changed. Otherwise assigns the changed checks and those of gone agents: no other
 * check moves (src/model/assignment/rendezvous.ts). Run it in a transaction.
 *
 * @returns false if there is nothing to do: another replica does it or has done it, or the location
 *   is gone
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
  // Without any agent, the reason why a check is unassigned changes for all checks.
  const isWhole = changes.everything || named === null || agents.length === 0;
  let changed = isWhole ? await assignAll(tx, pass) : await assignNamed(tx, pass, [...named]);
  if (!isWhole) changed += await moveOrphans(tx, pass, gone);
  if (changed > 0) await setRevision(tx, { locationId, revision: pass.nextRevision - 1 });
  // A held poll may wait for this to end, even if nothing changed.
  if (changed > 0 || isWhole || gone.length > 0) await notifyLocation(tx, { locationId });
  return true;
}

/**
 * Assigns up to MAX_ORPHANS checks of gone agents to others; if there are more, records the gone agents
 * again for the next transaction. Changed checks were assigned or dropped before this, and later changes
 * are recorded again: only the agent in the assignment of an orphan is out of date.
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
  // The gone agents may have been part of the reason why a check is unassigned.
  const unassigned = await listUnassigned(tx, { locationId });
  const unchanged = unassigned.filter((checkId) => !pass.isChanged(checkId));
  return changed + (await assignNamed(tx, pass, unchanged));
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

/** Lists the assigned checks of a range that no longer run in the location. */
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

interface AssignableHere extends AssignableCheck {
  /** null if the check has no slots here. */
  readonly slots: RotationRule | null;
  readonly revision: number;
  readonly before: AgentAssignment | null;
}

async function assignInChunks<Check>(
  tx: Sql,
  pass: Pass,
  checks: readonly Check[],
  assignable: (check: Check) => AssignableHere,
): Promise<number> {
  let changed = 0;
  for (let from = 0; from < checks.length; from += CHUNK_CHECKS) {
    const chunk = checks.slice(from, from + CHUNK_CHECKS).map(assignable);
    changed += await assignChunk(tx, pass, chunk);
    await yieldToEventLoop();
  }
  return changed;
}

async function assignChunk(
  tx: Sql,
  pass: Pass,
  checks: readonly AssignableHere[],
): Promise<number> {
  const { owners, unassigned } = assign(checks, pass.agents);
  const assignments: NewAssignment[] = [];
  const lost: AgentCheck[] = [];
  for (const { id: checkId, slots, revision: checkRevision, before } of checks) {
    const agentId = slots === null ? null : (owners.get(checkId) ?? null);
    const reason = slots === null ? 'too_many_locations' : (unassigned.get(checkId) ?? null);
    const next: NewAssignment = {
      checkId,
      agentId,
      agentEpoch: agentId === null ? null : (pass.epochs.get(agentId) ?? null),
      unassignedReason: agentId === null ? reason : null,
      slots: slots ?? WITHOUT_SLOTS,
      checkRevision,
    };
    if (isSame(before, next) && !pass.isChanged(checkId)) continue;
    assignments.push(next);
    const loser = before?.agentId ?? null;
    if (loser !== null && loser !== agentId && pass.epochs.has(loser)) {
      lost.push({ agentId: loser, checkId });
    }
  }
  const { locationId, accountId, nextRevision: revision } = pass;
  await addTombstones(tx, { locationId, revision, lost });
  await putAssignments(tx, { locationId, accountId, revision, assignments });
  if (assignments.length > 0) pass.nextRevision += 1;
  return assignments.length;
}

/** Values for the columns, which must not be null, of a check that has no slots here. */
const WITHOUT_SLOTS: RotationRule = { periodMs: 86_400_000, phaseMs: 0, stride: 1, index: 0 };

/** null in locations beyond the first MAX_STRIDE. */
function slotsOf(check: Candidate, { slugs, slug }: Pass): RotationRule | null {
  const rule = slotRuleOf(check.id, check.frequency, check.frequencyOffset);
  const locations = [...new Set(check.slugs)].filter((each) => slugs.has(each));
  return rotationRuleOf(rule, check.runParallel, locations.slice(0, MAX_STRIDE), slug);
}

function isSame(before: AgentAssignment | null, next: NewAssignment): boolean {
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
