import { setImmediate as nextTurn } from 'node:timers/promises';
import { slotRuleOf } from '../../../model/frequency.ts';
import { type TurnRule, turnRuleOf } from '../../../model/slot-stride.ts';
import { MAX_STRIDE } from '../../../wire/v1/limits.ts';
import { type LiveAgent, listLiveAgents, reapAgents } from '../../store/agents.ts';
import {
  type AgentCheck,
  addTombstones,
  type Candidate,
  type CheckRange,
  dropAssignments,
  endOfRange,
  type LockedLocation,
  listAssigned,
  listCandidates,
  listSlugs,
  lockAssignments,
  type NewPlace,
  putAssignments,
  renewEpochs,
  setRevision,
} from '../../store/assignments.ts';
import {
  purgeTombstones,
  takeLocationChanges,
  tellLocation,
} from '../../store/location-changes.ts';
import type { Sql } from '../../store/port.ts';
import { assign } from './rendezvous.ts';

/** Checks of the account that are read together. */
const RANGE_CHECKS = 5_000;
/** Checks that are placed together; then the event loop turns. */
const CHECKS_A_TURN = 1_000;
/** Where more checks than these changed, all of the location are taken as changed. */
const MAX_NAMED = 20_000;

interface Pass extends LockedLocation {
  readonly locationId: string;
  readonly nextRevision: number;
  readonly agents: readonly LiveAgent[];
  readonly epochs: ReadonlyMap<string, number>;
  /** Of the account's private locations. */
  readonly slugs: ReadonlySet<string>;
  /** Whether somebody changed it: then its agent is told of it, whatever its revision is. */
  readonly isChanged: (checkId: string) => boolean;
}

/**
 * Shares the checks of a location out among its live agents, and writes what differs from before:
 * all of them where an agent came, went or changed, else those that were changed. To be run in a
 * transaction.
 *
 * @returns false where another replica is at it or was before, or the location is gone
 */
export async function assignLocation(tx: Sql, locationId: string): Promise<boolean> {
  const location = await lockAssignments(tx, { locationId, whenBusy: 'skip' });
  if (location === null) return false;
  const changes = await takeLocationChanges(tx, { locationId, maxChecks: MAX_NAMED });
  const reaped = await reapAgents(tx, { locationId });
  const purged = await purgeTombstones(tx, { locationId });
  if (changes.count === 0 && reaped === 0) return purged;
  const named = changes.checkIds === null ? null : new Set(changes.checkIds);
  const agents = await listLiveAgents(tx, { locationId });
  const pass: Pass = {
    ...location,
    locationId,
    nextRevision: location.revision + 1,
    agents,
    epochs: new Map(agents.map(({ id, epoch }) => [id, epoch])),
    slugs: new Set(await listSlugs(tx, location)),
    isChanged: (checkId) => named === null || named.has(checkId),
  };
  const isWhole = changes.everything || named === null || reaped > 0;
  const changed = isWhole ? await assignAll(tx, pass) : await assignNamed(tx, pass, [...named]);
  if (changed > 0) await setRevision(tx, { locationId, revision: pass.nextRevision });
  // A poll may wait for the end of this, also where it brought nothing new.
  if (changed > 0 || isWhole) await tellLocation(tx, { locationId });
  return true;
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
  const assigned = await listAssigned(tx, { ...pass, range });
  const gone = assigned.filter((id) => !running.has(id));
  await dropAssignments(tx, { ...pass, revision: pass.nextRevision, checkIds: gone });
  let changed = gone.length;
  for (let from = 0; from < candidates.length; from += CHECKS_A_TURN) {
    changed += await place(tx, pass, candidates.slice(from, from + CHECKS_A_TURN));
    await nextTurn();
  }
  return changed;
}

async function place(tx: Sql, pass: Pass, candidates: readonly Candidate[]): Promise<number> {
  const { owners, unassigned } = assign(candidates, pass.agents);
  const places: NewPlace[] = [];
  const lost: AgentCheck[] = [];
  for (const candidate of candidates) {
    const { id: checkId, before } = candidate;
    const slots = slotsOf(candidate, pass);
    const agentId = slots === null ? null : (owners.get(checkId) ?? null);
    const reason = slots === null ? 'too_many_locations' : (unassigned.get(checkId) ?? null);
    const next: NewPlace = {
      checkId,
      agentId,
      agentEpoch: agentId === null ? null : (pass.epochs.get(agentId) ?? null),
      unassignedReason: agentId === null ? reason : null,
      slots: slots ?? WITHOUT_TURN,
      checkRevision: candidate.revision,
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
  return places.length;
}

/** For a check that nobody runs here, so that its row has some. */
const WITHOUT_TURN: TurnRule = { periodMs: 86_400_000, phaseMs: 0, stride: 1, index: 0 };

/** null for the locations after the last one that can take turns. */
function slotsOf(check: Candidate, { slugs, slug }: Pass): TurnRule | null {
  const rule = slotRuleOf(check.id, check.frequency, check.frequencyOffset);
  const locations = [...new Set(check.slugs)].filter((each) => slugs.has(each));
  return turnRuleOf(rule, check.runParallel, locations.slice(0, MAX_STRIDE), slug);
}

function isSame(before: Candidate['before'], next: NewPlace): boolean {
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
