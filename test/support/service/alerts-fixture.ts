import { randomUUID } from 'node:crypto';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { createAlertEngine } from '../../../src/service/alerts/engine.ts';
import type { Silence } from '../../../src/service/alerts/maintenance-silences.ts';
import type { AlertNotice } from '../../../src/service/alerts/notice.ts';
import { silentLog } from '../database/databases.ts';
import { HTTP_DETAIL, HTTP_RESPONSE } from '../samples/http-results.ts';
import {
  type ResultsFixture,
  type Run,
  resultOfRun,
  type TestLocation,
} from './results-fixture.ts';

const MINUTE_MS = 60_000;

export const FAILED = {
  hasFailures: true,
  apiCheckResult: { ...HTTP_DETAIL, response: { ...HTTP_RESPONSE, status: 503 } },
} as const satisfies Partial<Run>;
export const DEGRADED = { isDegraded: true, responseTime: 3500.4 } as const;
export const PASSED = {} as const;

/** Actions of an alert test on a fixture. Minutes count from the start of the service's clock. */
export interface AlertsFixture {
  readonly slot: (minute: number) => number;
  /** Advances the clock to the latest slot of the results and delivers them. */
  readonly deliver: (
    location: TestLocation,
    batch: { readonly results: readonly CheckResult[] },
  ) => Promise<void>;
  /** Delivers one run of `shop` in the same way, from berlin by default. */
  readonly run: (minute: number, fields?: Partial<Run>, location?: TestLocation) => Promise<void>;
  readonly result: (minute: number, fields?: Partial<Run>, location?: TestLocation) => CheckResult;
  /** The alerts of the account as `type check`, oldest first; omits `shop`. */
  readonly alerts: () => Promise<readonly string[]>;
  /** Advances the clock to that minute and runs the due work. */
  readonly sweepAt: (minute: number) => Promise<void>;
}

/** Call it at the beginning of a test. */
export function alertsFixtureOf(fixture: ResultsFixture): AlertsFixture {
  const { clock, berlin, mine, features } = fixture;
  const startMs = clock.wallMs();
  const slot = (minute: number): number => startMs + minute * MINUTE_MS;
  const result = (minute: number, fields: Partial<Run> = {}, location = berlin): CheckResult =>
    resultOfRun({ slot: slot(minute), runLocation: location.slug, ...fields });
  const deliver: AlertsFixture['deliver'] = async (location, batch) => {
    const latestMs = Math.max(...batch.results.map(({ checkRunId }) => checkRunId));
    clock.spend(Math.max(0, latestMs - clock.wallMs()));
    await fixture.deliver(location, batch);
  };
  return {
    slot,
    result,
    deliver,
    async run(minute, fields = {}, location = berlin) {
      await deliver(location, { results: [result(minute, fields, location)] });
    },
    async alerts() {
      const { json } = await mine.get(`/v1/check-alerts?limit=100&from=0&to=${slot(10_000)}`);
      return json
        .toReversed()
        .map(({ alertType, checkId }: Record<string, string>) =>
          checkId === 'shop' ? alertType : `${alertType} ${checkId}`,
        );
    },
    async sweepAt(minute) {
      clock.spend(slot(minute) - clock.wallMs());
      await features.alertEngine.sweep();
    },
  };
}

/** An engine on the fixture's store that records its notifications. */
export function listeningEngine(
  { store, clock }: ResultsFixture,
  isSilenced: Silence = () => false,
) {
  const notices: AlertNotice[] = [];
  const incidents: string[] = [];
  const engine = createAlertEngine({
    store,
    clock,
    log: silentLog(),
    ids: randomUUID,
    notices: {
      async put(_tx, _accountId, given) {
        notices.push(...given);
      },
    },
    incidents: {
      async opened(_tx, _accountId, { checkId, trigger, atMs }) {
        incidents.push(`opened ${checkId} ${trigger.name} ${atMs}`);
      },
      async resolved(_tx, _accountId, { checkId, atMs }) {
        incidents.push(`resolved ${checkId} ${atMs}`);
      },
    },
    silences: { from: async () => isSilenced },
  });
  return {
    engine,
    notices,
    incidents,
    /** As `type`, with the number of a reminder. */
    said: () =>
      notices.map(({ alertType, reminder }) =>
        reminder === 0 ? alertType : `${alertType} ${reminder}`,
      ),
  };
}
