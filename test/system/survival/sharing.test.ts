import { describe, expect, it } from 'vitest';
import { nextSlotAfter, slotRuleOf } from '../../../src/model/schedule/slot-rule.ts';
import { NamespacedAgent, TARGET_PORT } from '../../support/agent/namespaced-agent.ts';
import { slotFaults } from '../../support/agent/slot-verdict.ts';
import { newDatabase } from '../../support/database/new-database.ts';
import { databasesToTest } from '../../support/nightly.ts';
import { lacking } from '../../support/process/system-needs.ts';
import {
  addVisitors,
  CountingTarget,
  PERIOD_SECONDS,
  type SlotVisit,
  slotVisits,
} from '../../support/servers/counting-target.ts';
import {
  readDatabase,
  type SlotRecord,
  slotRecords,
  startService,
  until,
} from '../../support/service/deployment.ts';

const CHECKS = 60;
/** From the end of an agent until others run all of its checks: the lease, and 5 s. */
const MOVED_WITHIN_MS = 3_000 + 5_000;
/** A period without changes, so that each slot must be run by the one agent that has the check. */
const QUIET_MS = 3_000;
/** A run may start late, so slots this shortly before a change may count as part of it. */
const FUZZ_MS = 1_000;

const lacks = lacking({ commands: ['ip', 'nft'], files: [] });

describe.skipIf(lacks !== null).each(databasesToTest('postgres'))(
  `agents of one location, with %s${lacks === null ? '' : ` (skipped: no ${lacks})`}`,
  (kind) => {
    it('agents of a location run each slot once between them while agents join, die, lose the network and return', async () => {
      const where = await newDatabase(kind);
      const service = await startService(where);
      const { key, slug } = await service.addLocation('cellar');
      const target = new CountingTarget();
      const prepare = (name: string): Promise<NamespacedAgent> =>
        NamespacedAgent.prepare(name, {
          servicePort: service.port,
          onTarget: (socket) => target.serve(socket, name),
        });
      const [steady, cut, killed] = [
        await prepare('steady'),
        await prepare('cut'),
        await prepare('killed'),
      ];
      const names = await addVisitors(service, { count: CHECKS, slug, port: TARGET_PORT });
      const ids = [...names.values()];
      const quiet = async (owners: Owners): Promise<Quiet> => {
        const fromMs = Date.now();
        await target.after(fromMs + QUIET_MS);
        return { owners, fromMs, toMs: Date.now() - FUZZ_MS };
      };

      const processes = [await steady.start(key), await cut.start(key)];
      const ofTwo = await shared([steady, cut], ids);
      const two = await quiet(ofTwo);

      const joinMs = Date.now();
      const doomed = await killed.start(key);
      const ofThree = await shared([steady, cut, killed], ids);
      const three = await quiet(ofThree);

      const faultMs = Date.now();
      await doomed.kill('SIGKILL');
      cut.cutOff();
      await target.after(faultMs + MOVED_WITHIN_MS);
      const ofOne = new Map(ids.map((id) => [id, steady.name]));
      const one = await quiet(ofOne);

      const returnMs = Date.now();
      cut.reconnect();
      processes.push(await killed.start(key));
      const again = await shared([steady, cut, killed], ids, (owners) => isSame(owners, ofThree));
      const after = await quiet(again);
      const upToMs = Date.now() - FUZZ_MS;
      for (const process of processes) expect(await process.kill('SIGTERM')).toBe(0);
      expect(await service.kill('SIGTERM')).toBe(0);

      // Checks have moved only to the agent that joined.
      const moved = ids.filter((id) => ofThree.get(id) !== ofTwo.get(id));
      expect(moved.length).toBeGreaterThan(0);
      expect(moved.filter((id) => ofThree.get(id) !== killed.name)).toEqual([]);

      const visits = bySlot(slotVisits(target.visits, names));
      const isConnected = (visitor: string): boolean => visitor !== cut.name;
      expect(notRunOnce(two, visits)).toEqual([]);
      expect(notRunOnce(three, visits)).toEqual([]);
      expect(notRunOnce(one, visits, isConnected)).toEqual([]);
      // The isolated agent continued: otherwise it would be trivial that no slot has two FINALs.
      const goesOn = ({ from, slotMs }: SlotVisit): boolean =>
        from === cut.name && slotMs > faultMs + FUZZ_MS && slotMs < returnMs;
      expect([...visits.values()].flat().filter(goesOn).length).toBeGreaterThan(0);
      expect(notRunOnce(after, visits)).toEqual([]);
      // During the whole test, if a check did not have to move.
      const stayed = new Map([...ofThree].filter(([, name]) => name === steady.name));
      expect(notRunOnce({ owners: stayed, fromMs: two.fromMs, toMs: upToMs }, visits)).toEqual([]);

      const records = await slotRecords(where);
      const afterMs = new Map(ids.map((id) => [id, two.fromMs]));
      expect(slotFaults(records, { afterMs, upToMs, periodSeconds: PERIOD_SECONDS })).toEqual({
        unanswered: [],
        double: [],
        unplanned: [],
      });
      const finals = await finalsIn(where);
      const unseen = [...finals].filter(([slot, by]) => !visits.get(slot)?.some(isFrom(by)));
      expect(unseen).toEqual([]);

      // Slots that ran are not missed, even if only the isolated agent ran them.
      const diedWith = (slotMs: number): boolean =>
        slotMs > faultMs - 2 * FUZZ_MS && slotMs <= faultMs;
      const isWatched = (slotMs: number): boolean => slotMs > two.fromMs && slotMs <= upToMs;
      const missed = records.filter(({ kind, slotMs }) => kind === 'missed' && isWatched(slotMs));
      expect(
        missed.filter(({ checkId, slotMs }) => {
          const visitors = visits.get(slotName(checkId, slotMs)) ?? [];
          return visitors.some(({ from }) => from !== killed.name || !diedWith(slotMs));
        }),
      ).toEqual([]);
      // Missed slots are those of checks that were moving between agents.
      const isMoving = ({ checkId, slotMs }: SlotRecord): boolean => {
        if (slotMs > joinMs && slotMs < three.fromMs)
          return ofTwo.get(checkId) !== ofThree.get(checkId);
        if (ofThree.get(checkId) === steady.name) return false;
        if (slotMs > returnMs && slotMs < after.fromMs) return true;
        const isDead = ofThree.get(checkId) === killed.name;
        return isDead && slotMs > faultMs - 2 * FUZZ_MS && slotMs < faultMs + MOVED_WITHIN_MS;
      };
      expect(missed.filter((record) => !isMoving(record))).toEqual([]);
    });
  },
);

/** Agents' names by the ids of their checks. */
type Owners = ReadonlyMap<string, string>;

/** A period without changes. */
interface Quiet {
  readonly owners: Owners;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Resolves when each of the agents has some checks, and each check has exactly one agent. */
async function shared(
  agents: readonly NamespacedAgent[],
  ids: readonly string[],
  wanted: (owners: Owners) => boolean = () => true,
): Promise<Owners> {
  const shares = () =>
    Promise.all(
      agents.map(async (agent) =>
        (await agent.share()).map((id): [string, string] => [id, agent.name]),
      ),
    );
  const settled = await until(shares, (each) => {
    const pairs = each.flat();
    const owners = new Map(pairs);
    const isSharedOut = each.every(({ length }) => length > 0) && pairs.length === ids.length;
    return isSharedOut && owners.size === ids.length && wanted(owners);
  });
  return new Map(settled.flat());
}

function isSame(some: Owners, others: Owners): boolean {
  return [...some].every(([id, name]) => others.get(id) === name);
}

function anybody(): boolean {
  return true;
}

function isFrom(name: string): (visit: SlotVisit) => boolean {
  return ({ from }) => from === name;
}

/** The agent of each slot's FINAL: the target answers each client with its name. */
async function finalsIn(
  where: Parameters<typeof readDatabase>[0],
): Promise<ReadonlyMap<string, string>> {
  const rows = await readDatabase(
    where,
    `select check_id, slot, body #>> '{tcpCheckResult,response,data}' as by from check_results
     where result_type = 'FINAL'`,
  );
  return new Map(
    rows.map(({ checkId, slot, by }) => [
      slotName(String(checkId), (slot as Date).getTime()),
      String(by),
    ]),
  );
}

function slotName(checkId: string, slotMs: number): string {
  return `${new Date(slotMs).toISOString()} of ${checkId}`;
}

function bySlot(visits: readonly SlotVisit[]): ReadonlyMap<string, readonly SlotVisit[]> {
  const slots = new Map<string, SlotVisit[]>();
  for (const visit of visits) {
    const slot = slotName(visit.checkId, visit.slotMs);
    slots.set(slot, [...(slots.get(slot) ?? []), visit]);
  }
  return slots;
}

/** The slots of a period that were not run exactly once by their owner. */
function notRunOnce(
  { owners, fromMs, toMs }: Quiet,
  visits: ReadonlyMap<string, readonly SlotVisit[]>,
  counts: (visitor: string) => boolean = anybody,
): readonly string[] {
  return [...owners].flatMap(([checkId, owner]) => {
    const rule = slotRuleOf(checkId, 0, PERIOD_SECONDS);
    const wrong: string[] = [];
    for (let slotMs = nextSlotAfter(rule, fromMs); slotMs <= toMs; slotMs += rule.periodMs) {
      const slot = slotName(checkId, slotMs);
      const visitors = (visits.get(slot) ?? []).map(({ from }) => from).filter(counts);
      if (visitors.join() !== owner) wrong.push(`${slot}: ${visitors.join()}, not ${owner}`);
    }
    return wrong;
  });
}
