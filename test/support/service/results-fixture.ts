import { gzipSync } from 'node:zlib';
import { beforeEach } from 'vitest';
import { resultIdOf, sequenceIdOf } from '../../../src/model/ids.ts';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { giveEverySlot, giveRetry } from '../agent/assigned-slots.ts';
import { HTTP_DETAIL, resultOf } from '../samples/http-results.ts';
import type { Reply } from './service-app.ts';
import { type RunningService, type TestService, useAccounts } from './service-fixture.ts';

export const DAY_MS = 86_400_000;
/** The start of the service's clock. */
export const NOW = Date.UTC(2026, 0, 1);
/** As in test/support/service/service-features.ts. */
export const RETENTION_DAYS = 30;
const MINUTE_MS = 60_000;

/** A private location as its agents see it. */
export interface TestLocation {
  readonly id: string;
  readonly slug: string;
  readonly key: string;
}

export type Missed = {
  readonly checkId: string;
  readonly slot: number;
  readonly lastSlot: number;
  readonly count: number;
  readonly reason?: string;
};

/** One account with two locations, berlin and oslo, and a check `shop` that both run. */
export interface ResultsFixture extends TestService {
  /** The real service. */
  readonly running: RunningService;
  readonly berlin: TestLocation;
  readonly oslo: TestLocation;
  addLocation(slug: string): Promise<TestLocation>;
  /** Creates or replaces the check. Its private locations get every slot. */
  check(id: string, fields?: Readonly<Record<string, unknown>>): Promise<void>;
  send(location: TestLocation, batch: Batch): Promise<Reply>;
  /** Sends records; @throws Error unless all are accepted */
  deliver(location: TestLocation, batch: Batch): Promise<void>;
  /** Assigns the attempt of the result to the location: a retry of a run that began elsewhere. */
  handOver(location: TestLocation, result: CheckResult): Promise<void>;
}

export interface Batch {
  readonly results?: readonly unknown[];
  readonly missed?: readonly Missed[];
}

/** For a describe block: a new account in each test. */
export function useResultsFixture(runningOf: () => RunningService): () => ResultsFixture {
  const accounts = useAccounts(runningOf);
  let fixture: ResultsFixture | null = null;
  beforeEach(async () => {
    const running = runningOf();
    const service = accounts();
    const { accountId } = service.mine;
    const { privateLocations, locationKeys, checks } = running.features;
    const addLocation = async (slug: string): Promise<TestLocation> => {
      const { id } = await privateLocations.create(accountId, { slug, name: slug });
      const { key } = await locationKeys.create(accountId, id);
      return { id, slug, key };
    };
    const send = async (to: TestLocation, { results = [], missed = [] }: Batch): Promise<Reply> =>
      running.app.ask('/agent/v1/results', {
        key: to.key,
        method: 'POST',
        headers: {
          'x-agent-protocol': '1',
          'content-encoding': 'gzip',
          'content-type': 'application/json',
        },
        body: gzipSync(
          JSON.stringify({
            agentId: 'agent',
            epoch: 1,
            results,
            missed: missed.map((one, number) => ({
              id: `m${number}`,
              reason: 'agent_busy',
              ...one,
            })),
          }),
        ),
      });
    fixture = {
      ...service,
      running,
      addLocation,
      berlin: await addLocation('berlin'),
      oslo: await addLocation('oslo'),
      async check(id, fields = {}) {
        const body = {
          checkType: 'URL',
          name: `Check ${id}`,
          request: { url: 'https://shop.test/' },
          privateLocations: ['berlin', 'oslo'],
          ...fields,
        };
        await checks.put({ accountId, id }, body, { autoAssignAlerts: true });
        const slugs = body.privateLocations;
        await giveEverySlot(running.store, { accountId, checkId: id, slugs });
      },
      send,
      async deliver(to, batch) {
        const reply = await send(to, batch);
        const wanted = (batch.results?.length ?? 0) + (batch.missed?.length ?? 0);
        if (reply.status !== 200 || reply.json.accepted.length !== wanted) {
          throw new Error(`not all was accepted: ${reply.status} ${reply.text}`);
        }
      },
      handOver: ({ id: locationId }, result) =>
        giveRetry(running.store, { accountId, locationId, result }),
    };
    await fixture.check('shop');
  });
  return () => {
    if (fixture === null) throw new Error('the fixture is for tests: it comes before the first');
    return fixture;
  };
}

/** The slot this many minutes ago. */
export function minutesAgo(minutes: number): number {
  return NOW - minutes * MINUTE_MS;
}

export interface Run extends Partial<Omit<CheckResult, 'checkRunId' | 'id' | 'sequenceId'>> {
  readonly slot: number;
  /** The location in which the run began; that of the result by default. */
  readonly origin?: string;
}

/** The passed result of a run of `shop` in berlin, overridden by the fields. */
export function resultOfRun({ slot, origin, ...fields }: Run): CheckResult {
  const { checkId = 'shop', runLocation = 'berlin', attempts = 0 } = fields;
  const sequenceId = sequenceIdOf(checkId, origin ?? runLocation, slot);
  return resultOf({
    checkId,
    runLocation,
    startedAt: new Date(slot + 5).toISOString(),
    stoppedAt: new Date(slot + 20).toISOString(),
    created_at: new Date(slot + 20).toISOString(),
    ...fields,
    attempts,
    checkRunId: slot,
    sequenceId,
    id: resultIdOf(sequenceId, attempts + 1),
  });
}

/** A run of `shop` in berlin that could not connect. */
export function failedRun(
  minutes: number,
  requestError: string,
  fields: Partial<Run> = {},
): CheckResult {
  const apiCheckResult = { ...HTTP_DETAIL, response: null, requestError };
  return resultOfRun({ slot: minutesAgo(minutes), hasFailures: true, apiCheckResult, ...fields });
}

/** The reasons of rejections, in the order of the records. */
export function codesIn({ json }: Reply): readonly string[] {
  const rejected: readonly { index: number; code: string }[] = json.rejected;
  return rejected.toSorted((one, other) => one.index - other.index).map(({ code }) => code);
}
