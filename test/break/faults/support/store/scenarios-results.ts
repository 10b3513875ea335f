import type { CheckResult } from '../../../../../src/model/result/result.ts';
import { giveEverySlot } from '../../../../support/agent/assigned-slots.ts';
import { FAILED } from '../../../../support/service/alerts-fixture.ts';
import { type Run, resultOfRun } from '../../../../support/service/results-fixture.ts';
import type { Scenario } from './cases.ts';
import type { CaseFixture, TestLocation } from './fixture.ts';

const MINUTE_MS = 60_000;
const RESULTS = '/agent/v1/results';

export interface MissedRange {
  readonly from: number;
  readonly to: number;
}

/** The uploads of one location's agent, repeated until they are answered. */
export function reporterOf(fixture: CaseFixture, location: TestLocation) {
  const slot = (minute: number): number => fixture.startMs + minute * MINUTE_MS;
  const send = async (results: readonly CheckResult[], ranges: readonly MissedRange[] = []) => {
    const missed = ranges.map(({ from, to }) => ({
      id: `missed${from}`,
      checkId: 'shop',
      slot: slot(from),
      lastSlot: slot(to),
      count: to - from + 1,
      reason: 'agent_busy',
    }));
    const body = { agentId: 'reporter', epoch: 1, results, missed };
    const { status, json, text } = await fixture.agentAsk(location.key, RESULTS, body);
    if (status !== 200) throw new Error(`the results were answered ${status} ${text}`);
    const { accepted, rejected, deferred } = json;
    return { accepted: accepted.length, rejected: rejected.length, deferred: deferred.length };
  };
  /** Sends records, which must all be accepted. */
  const deliver = async (
    results: readonly CheckResult[],
    ranges: readonly MissedRange[] = [],
  ): Promise<void> => {
    const { accepted } = await send(results, ranges);
    if (accepted === results.length + ranges.length) return;
    throw new Error(`${accepted} of ${results.length + ranges.length} were accepted`);
  };
  const result = (minute: number, fields: Partial<Run> = {}): CheckResult =>
    resultOfRun({ slot: slot(minute), runLocation: location.slug, ...fields });
  return { slot, send, deliver, result };
}

interface CheckFields {
  readonly privateLocations?: readonly string[];
  readonly [field: string]: unknown;
}

/** Before the faults: the check `shop`, whose locations get every slot. */
export async function shopIn(fixture: CaseFixture, fields: CheckFields = {}): Promise<void> {
  await checkIn(fixture, 'shop', { name: 'Shop', ...fields });
}

/** The same for any check. */
export async function checkIn(
  fixture: CaseFixture,
  checkId: string,
  { privateLocations = ['berlin'], ...fields }: CheckFields = {},
): Promise<void> {
  await fixture.done(200, 'PUT', `/v1/checks/url/${checkId}`, {
    name: checkId,
    request: { url: `https://${checkId}.test/` },
    privateLocations,
    ...fields,
  });
  const { accountId, service } = fixture;
  await giveEverySlot(service.store, { accountId, checkId, slugs: privateLocations });
}

const ATTEMPT = { ...FAILED, resultType: 'ATTEMPT' } as const;

export const resultsScenario: Scenario = {
  name: 'results come, twice, late and out of order',
  async prepare(fixture) {
    const berlin = await fixture.location('berlin');
    const oslo = await fixture.location('oslo');
    await shopIn(fixture);
    // Missed slots are compared with maintenance.
    await fixture.done(201, 'POST', '/v1/maintenance-windows', {
      name: 'Other',
      repeatUnit: 'MONTH',
      startsAt: new Date(fixture.startMs - 30 * MINUTE_MS).toISOString(),
      endsAt: new Date(fixture.startMs + 30 * MINUTE_MS).toISOString(),
      tags: ['other'],
    });
    return async () => {
      const { deliver, send, result } = reporterOf(fixture, berlin);
      const batch = [
        result(-9, ATTEMPT),
        result(-9, { attempts: 1 }),
        result(-8, ATTEMPT),
        result(-7),
        result(-6),
      ];
      const missed = [
        { from: -20, to: -12 },
        { from: -5, to: -3 },
      ];
      await deliver(batch, missed);
      // The answer was lost.
      await deliver(batch, missed);
      // A slot reported as missed had run, and an attempt is the last one after all.
      await deliver([result(-4), result(-8), result(-14)], [{ from: -7, to: -6 }]);
      // From a spool an hour old, and from a clock that is fast.
      await deliver([result(-60, FAILED)]);
      const { deferred } = await send([result(30)]);
      const foreign = reporterOf(fixture, oslo);
      const { rejected } = await foreign.send([foreign.result(-5)], [{ from: -6, to: -6 }]);
      const results = await fixture.done(
        200,
        'GET',
        '/v1/check-results/shop?resultType=ALL&limit=99',
      );
      await fixture.done(200, 'GET', `/v1/check-results/shop/${results[0].id}`);
      const status = await fixture.done(200, 'GET', '/v1/check-statuses/shop');
      const [listed] = await fixture.done(200, 'GET', '/v1/check-statuses?search=shop&cells=true');
      const counts = await fixture.done(200, 'GET', '/v1/check-state-counts?search=shop');
      const parted = '/v1/check-state-breakdown?by=location&search=shop';
      const { entries } = await fixture.done(200, 'GET', parted);
      const from = Math.floor(fixture.startMs / 1000) - 3600;
      const gaps = await fixture.done(200, 'GET', `/v1/missed-slots/shop?from=${from}`);
      await fixture.done(200, 'GET', '/v1/analytics/url/shop?metrics=dns');
      await fixture.done(200, 'GET', '/v1/analytics/url/shop?metrics=dns_avg');
      await fixture.done(200, 'GET', '/v1/checks/shop/availability?days=2');
      return {
        seen: [
          `${rejected} rejected`,
          `${deferred} deferred`,
          `${results.length} results`,
          `failing ${status.hasFailures}`,
          `${listed.state}, ${counts[listed.state]} counted, in ${entries.length} locations`,
          `${gaps.length} gaps`,
        ],
      };
    };
  },
};

const DAY_MINUTES = 1_440;

export const rollUpsScenario: Scenario = {
  name: 'results and missed slots are rolled up, also late ones',
  async prepare(fixture) {
    const berlin = await fixture.location('berlin');
    await shopIn(fixture);
    return async () => {
      const { deliver, result } = reporterOf(fixture, berlin);
      const begin = -2 * DAY_MINUTES - 30;
      const rolledUp = (): Promise<void> =>
        fixture.passUntil('all roll-ups are computed', async () => {
          const marks = await fixture.rows('select from rollup_marks where account_id = $1');
          return marks.length === 0;
        });
      await deliver(
        [result(begin), result(begin + 1, FAILED)],
        [{ from: begin + 2, to: begin + 9 }],
      );
      await rolledUp();
      await deliver([result(begin + 3)]);
      await rolledUp();
      const { runs, failures, missed } = await fixture.done(
        200,
        'GET',
        '/v1/checks/shop/availability?days=4',
      );
      const rows = await fixture.rows('select span from result_rollups where account_id = $1');
      const spans = new Set(rows.map(({ span }) => span));
      return {
        seen: [`${runs} runs`, `${failures} failed`, `${missed} missed`, `${spans.size} spans`],
      };
    };
  },
};
