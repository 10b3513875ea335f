import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sequenceIdOf } from '../../../../../src/model/ids.ts';
import type { CheckResult } from '../../../../../src/model/result/result.ts';
import { insertAccount } from '../../../../../src/service/accounts/sql.ts';
import { giveEverySlot, giveRetry } from '../../../../support/agent/assigned-slots.ts';
import { databases } from '../../../../support/database/databases.ts';
import { caseCount } from '../../../../support/nightly.ts';
import { HTTP_DETAIL, HTTP_RESPONSE } from '../../../../support/samples/http-results.ts';
import {
  type Missed,
  minutesAgo,
  NOW,
  resultOfRun,
} from '../../../../support/service/results-fixture.ts';
import {
  type RunningService,
  useRunningService,
} from '../../../../support/service/service-fixture.ts';

const LOCATIONS = ['berlin', 'oslo'] as const;
const CHECKS = ['shop', 'other'] as const;
const SLOTS = 8;
const NUM_RUNS = caseCount(20);

/** The batch of one agent of a location. */
interface Delivery {
  readonly location: (typeof LOCATIONS)[number];
  readonly results: readonly CheckResult[];
  readonly missed: readonly Missed[];
}

const location = fc.constantFrom(...LOCATIONS);
const checkId = fc.constantFrom(...CHECKS);

/** A run with its attempts, of which the last may have been made elsewhere, or twice. */
const RUN = fc
  .record({
    location,
    checkId,
    ago: fc.integer({ min: 1, max: SLOTS }),
    retries: fc.nat(2),
    elsewhere: fc.boolean(),
    twice: fc.boolean(),
    hasFailures: fc.boolean(),
    isDegraded: fc.boolean(),
    responseTime: fc.nat(100),
    days: fc.option(fc.nat(60)),
  })
  .map(({ location: origin, ago, retries, elsewhere, twice, days, ...outcome }) => {
    const other = origin === 'berlin' ? 'oslo' : 'berlin';
    const run = { ...outcome, slot: minutesAgo(ago), origin };
    const last = elsewhere && retries > 0 ? other : origin;
    const attempt = (attempts: number, runLocation: string): CheckResult =>
      resultOfRun({ ...run, attempts, runLocation, resultType: 'ATTEMPT' });
    const final = resultOfRun({
      ...run,
      attempts: retries,
      runLocation: last,
      apiCheckResult: { ...HTTP_DETAIL, response: { ...HTTP_RESPONSE, tls: tlsWith(days) } },
    });
    return {
      name: `${outcome.checkId} ${origin} ${ago}`,
      records: [
        ...Array.from({ length: retries }, (_, number) => attempt(number, origin)),
        // An agent without a connection continued after it, and sent no FINAL result.
        ...(twice ? [attempt(retries, origin)] : []),
        final,
      ],
    };
  });

const MISSED = fc
  .record({
    location,
    checkId,
    first: fc.integer({ min: 1, max: SLOTS }),
    count: fc.integer({ min: 1, max: SLOTS }),
    step: fc.integer({ min: 1, max: 2 }),
  })
  .map(({ location: at, first, count: most, step, ...rest }) => {
    const count = Math.min(most, Math.floor((first - 1) / step) + 1);
    const lastSlot = minutesAgo(first - (count - 1) * step);
    return { location: at, missed: { ...rest, slot: minutesAgo(first), lastSlot, count } };
  });

/** All batches of the agents, cut into deliveries at any point. */
const DELIVERIES: fc.Arbitrary<readonly Delivery[]> = fc
  .record({
    runs: fc.uniqueArray(RUN, { selector: ({ name }) => name, maxLength: 10 }),
    missed: fc.array(MISSED, { maxLength: 4 }),
    size: fc.integer({ min: 1, max: 8 }),
  })
  .map(({ runs, missed, size }) =>
    LOCATIONS.flatMap((at) => {
      const results = runs
        .flatMap(({ records }) => records)
        .filter(({ runLocation }) => runLocation === at);
      const own = missed.filter((one) => one.location === at).map((one) => one.missed);
      const length = Math.ceil(Math.max(results.length, own.length) / size);
      return Array.from({ length }, (_, number) => ({
        location: at,
        results: results.slice(number * size, (number + 1) * size),
        missed: own.slice(number * size, (number + 1) * size),
      }));
    }),
  );

const IN_ANY_ORDER = DELIVERIES.chain((deliveries) =>
  fc.tuple(
    fc.constant(deliveries),
    fc.shuffledSubarray([...deliveries, ...deliveries], { minLength: deliveries.length * 2 }),
    fc.boolean(),
  ),
);

/** The order and repetition of batches do not change what is stored. */
describe.each(databases)('on %s', (kind) => {
  describe('the order of batches', () => {
    const service = useRunningService(kind);

    it('does not matter, nor do repetitions and concurrency', { timeout: 120_000 }, async () => {
      const property = fc.asyncProperty(IN_ANY_ORDER, async ([inOrder, shuffled, atOnce]) => {
        const one = await newAccount(service());
        for (const delivery of inOrder) await one.deliver(delivery);
        const other = await newAccount(service());
        if (atOnce) await Promise.all(shuffled.map((delivery) => other.deliver(delivery)));
        else for (const delivery of shuffled) await other.deliver(delivery);

        const state = await one.state();
        expect(await other.state()).toEqual(state);
        // Each reported slot has run or is missed, and never both.
        const finals = inOrder
          .flatMap(({ results }) => results)
          .filter(({ resultType }) => resultType === 'FINAL')
          .map(({ checkId: check, sequenceId }) => `${check} ${sequenceId}`);
        expect(state.finals).toEqual(sorted(finals));
        const told = new Set(
          inOrder.flatMap((delivery) => delivery.missed.flatMap(slotsOf(delivery))),
        );
        const run = new Set(
          inOrder
            .flatMap(({ results }) => results)
            .filter(({ resultType }) => resultType === 'FINAL')
            .map(nameOfSlot),
        );
        expect(state.missed).toEqual(sorted([...told].filter((slot) => !run.has(slot))));
      });
      await fc.assert(property, { numRuns: NUM_RUNS });
    });

    it('does not matter to a hundred batches of the same checks at once', async () => {
      const account = await newAccount(service());
      // All are recent enough for the status, as results older than two periods are history.
      const slotAgo = (n: number): number => NOW - (n + 1) * 20_000;
      const slots = Array.from({ length: 50 }, (_, n) => slotAgo(n));
      await Promise.all(
        slots.flatMap((slot, n) =>
          LOCATIONS.map((at, second) => {
            const runs = CHECKS.map((id) =>
              resultOfRun({ slot, checkId: id, runLocation: at, responseTime: 2 * n + second }),
            );
            const missed = CHECKS.map((id) => {
              return { checkId: id, slot, lastSlot: slotAgo(0), count: n + 1 };
            });
            // One batch in the order of the checks, the other in reverse order.
            const order = second === 0 ? runs : runs.toReversed();
            return account.deliver({ location: at, results: order, missed });
          }),
        ),
      );
      const { finals, missed, statuses } = await account.state();
      expect(finals).toHaveLength(200);
      expect(missed).toEqual([]);
      const status = { lastSlot: new Date(slotAgo(0)), longestRun: 99, shortestRun: 0 };
      expect(statuses).toMatchObject([status, status]);
    });
  });
});

/** The key of a run: its check, its slot and the location where it began. */
function nameOfSlot({ checkId: check, sequenceId, checkRunId }: CheckResult): string {
  const origin = LOCATIONS.find(
    (at) =>
      resultOfRun({ slot: checkRunId, checkId: check, runLocation: at }).sequenceId === sequenceId,
  );
  return `${check} ${origin} ${checkRunId}`;
}

function slotsOf({ location: at }: Delivery): (missed: Missed) => readonly string[] {
  return ({ checkId: check, slot, lastSlot, count }) => {
    const step = count === 1 ? 0 : (lastSlot - slot) / (count - 1);
    return Array.from({ length: count }, (_, number) => `${check} ${at} ${slot + number * step}`);
  };
}

/** A new account with two checks that run in two locations. */
async function newAccount({ store, clock, features }: RunningService) {
  const accountId = randomUUID();
  await insertAccount(store, { id: accountId, name: 'a', createdAtMs: clock.wallMs() });
  const ids = new Map<string, string>();
  for (const slug of LOCATIONS) {
    const { id } = await features.privateLocations.create(accountId, { slug, name: slug });
    ids.set(slug, id);
  }
  for (const id of CHECKS) {
    const request = { url: 'https://shop.test/' };
    const body = { checkType: 'URL', request, privateLocations: [...LOCATIONS] };
    await features.checks.put({ accountId, id }, body, { autoAssignAlerts: true });
    await giveEverySlot(store, { accountId, checkId: id, slugs: LOCATIONS });
  }
  return {
    async deliver({ location: at, results, missed }: Delivery): Promise<void> {
      const locationId = ids.get(at) ?? '';
      const caller = { accountId, locationId, keyId: at };
      for (const result of results) {
        const { checkId: check, checkRunId, sequenceId } = result;
        const isOwn = sequenceIdOf(check, at, checkRunId) === sequenceId;
        if (!isOwn) await giveRetry(store, { accountId, locationId, result });
      }
      const answer = await features.resultIntake.take(caller, {
        agentId: at,
        epoch: 1,
        results: [...results],
        missed: missed.map((one, number) => ({ ...one, id: `m${number}`, reason: 'agent_busy' })),
      });
      expect(answer.rejected).toEqual([]);
      expect(answer.accepted).toHaveLength(results.length + missed.length);
    },
    async state() {
      const results = await store.query<{ name: string; type: string }>(
        `select check_id || ' ' || sequence_id as name, result_type as type, id, slot, started_at,
           stopped_at, created_at, response_time, has_failures, has_errors, is_degraded, over_max,
           run_location, attempts, check_type, body - 'errorGroupIds' as body,
           -- Its ids come from the account's, too.
           jsonb_array_length(body -> 'errorGroupIds') as error_groups
         from check_results where account_id = $1 order by check_id, id`,
        [accountId],
      );
      const statuses = await store.query(
        `select check_id, has_failures, has_errors, is_degraded, longest_run, shortest_run,
           last_run_location, last_check_run_id, ssl_days_remaining, ssl_slot, last_slot,
           last_response_time, last_error_code, last_error_message, last_error_location,
           last_error_slot
         from check_statuses where account_id = $1 order by check_id`,
        [accountId],
      );
      const errorGroups = await store.query(
        `select scope, error_hash, raw_message, first_seen, last_seen, occurrences
         from error_groups where account_id = $1 order by scope, error_hash`,
        [accountId],
      );
      const metrics = await store.query<{ run: string }>(
        `select check_id || ' ' || run_location || ' ' || slot || ' ' || passed || ' ' || retries
           || ' ' || response_time as run
         from result_metrics where account_id = $1 order by 1`,
        [accountId],
      );
      const measured = await store.query<{ run: string }>(
        `select check_id || ' ' || run_location || ' ' || slot || ' ' || (not has_failures) || ' '
           || attempts || ' ' || response_time as run
         from check_results where account_id = $1 and result_type = 'FINAL' order by 1`,
        [accountId],
      );
      // Each run once, whichever of its FINALs was the first.
      expect(metrics).toEqual(measured);
      const rows = await store.query<Missed & { location: (typeof LOCATIONS)[number] }>(
        `select check_id as "checkId", location, count,
           (extract(epoch from slot) * 1000)::bigint as slot,
           (extract(epoch from last_slot) * 1000)::bigint as "lastSlot"
         from missed_slots where account_id = $1`,
        [accountId],
      );
      const missed = rows.flatMap((row) =>
        slotsOf({ location: row.location, results: [], missed: [] })(row),
      );
      return {
        results,
        statuses,
        errorGroups,
        finals: sorted(results.filter(({ type }) => type === 'FINAL').map(({ name }) => name)),
        missed: sorted(missed),
      };
    },
  };
}

function sorted(texts: readonly string[]): readonly string[] {
  return texts.toSorted();
}

function tlsWith(daysRemaining: number | null) {
  if (daysRemaining === null) return null;
  const certificate = {
    subject: 'CN=shop.test',
    issuer: 'CN=ca.test',
    subjectAltNames: [],
    validFrom: '2026-01-01T00:00:00.000Z',
    validTo: '2026-04-01T00:00:00.000Z',
    daysRemaining,
    serialNumber: '01',
    fingerprint256: 'AA',
  };
  return {
    protocol: 'TLSv1.3',
    cipher: null,
    alpnProtocol: null,
    authorized: true,
    certificate,
  };
}
