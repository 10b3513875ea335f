import { randomUUID } from 'node:crypto';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { HTTP_DETAIL } from '../../../support/samples/http-results.ts';
import type { DashboardAccount, DashboardService } from '../../support/dashboard-service.ts';
import { addCheck, addLocations, deliver, runOf, slotAgo } from '../check/check-samples.ts';

const REFUSED = 'connect ECONNREFUSED 192.0.2.10:443';

function failedRun(checkId: string, name: string, periods: number, error: string): CheckResult {
  return runOf(
    { checkId, name, checkType: 'URL', slotMs: slotAgo(periods), location: 'berlin' },
    {
      responseTime: 12,
      hasFailures: true,
      apiCheckResult: {
        ...HTTP_DETAIL,
        response: null,
        requestError: error,
        requestErrorCode: 'CONNECT_REFUSED',
      },
    },
  );
}

/** Two checks that fail, one of them with two errors. */
export async function addFailures(
  account: DashboardAccount,
  service: DashboardService,
): Promise<void> {
  const keys = await addLocations(account, service, ['berlin']);
  for (const [id, name] of [
    ['checkout', 'Checkout'],
    ['search', 'Search'],
  ] as const) {
    await addCheck(account, service, id, {
      name,
      checkType: 'URL',
      frequency: 5,
      privateLocations: ['berlin'],
      request: { url: `https://${id}.example.com/` },
    });
  }
  await deliver(service, keys.berlin ?? '', [
    failedRun('checkout', 'Checkout', 6, REFUSED),
    failedRun('checkout', 'Checkout', 5, REFUSED),
    failedRun('checkout', 'Checkout', 1, REFUSED),
    failedRun('search', 'Search', 3, 'the connection was closed before the response'),
  ]);
}

/** The error groups, once the first analysis is made. */
export async function settledGroups({ get }: DashboardAccount) {
  for (;;) {
    const { json } = await get('/v1/root-cause-analyses');
    if (json.length >= 2) return json;
    await new Promise(setImmediate);
  }
}

/** A session that failed and one that passed; the id of the first. */
export async function addSessions(account: DashboardAccount): Promise<string> {
  const passed = (name: string) =>
    runOf(
      {
        checkId: name.toLowerCase(),
        name,
        checkType: 'URL',
        slotMs: slotAgo(1),
        location: 'ci',
      },
      { responseTime: 84, apiCheckResult: HTTP_DETAIL },
    );
  const facts = { projectId: 'web-shop', environment: 'staging', branch: 'main' };
  const ids: string[] = [];
  for (const [name, results, missed] of [
    [
      'Deployment 1842',
      [failedRun('checkout', 'Checkout', 1, REFUSED), passed('Search'), passed('Basket')],
      [],
    ],
    ['Deployment 1841', [passed('Search')], []],
  ] as const) {
    const id = randomUUID();
    const body = {
      id,
      name,
      ...facts,
      commitId: '9fceb02d0ae598e95dc970b74767f19372d61af8',
      results,
      missed,
    };
    const { status, text } = await account.post('/v1/test-sessions', body);
    if (status !== 201) throw new Error(text);
    ids.push(id);
  }
  return ids[0] ?? '';
}
