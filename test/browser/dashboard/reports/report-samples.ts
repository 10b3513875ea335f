import type { DashboardAccount, DashboardService } from '../../support/dashboard-service.ts';
import {
  addCheck,
  addLocations,
  deliver,
  httpDetail,
  ORDERS,
  runOf,
  slotAgo,
} from '../check/check-samples.ts';
import { makeHeartbeat } from '../heartbeats/heartbeat-scenes.ts';

const RUNS = 10;

/** Checks with runs of the last hour: one passes, one is slow and fails every other time, one has no run. */
export async function addReportedChecks(
  account: DashboardAccount,
  service: DashboardService,
): Promise<void> {
  const keys = await addLocations(account, service, ['office']);
  const checks = [
    { id: 'basket', name: 'Basket', tags: ['shop'], ms: 80, failsEvery: 0 },
    { id: 'search', name: 'Search', tags: ['shop', 'slow'], ms: 640, failsEvery: 2 },
  ];
  for (const { id, name, tags, ms, failsEvery } of checks) {
    await addCheck(account, service, id, { ...ORDERS, name, tags, privateLocations: ['office'] });
    const runs = Array.from({ length: RUNS }, (_, index) => {
      const slotMs = slotAgo(index + 1);
      const of = { checkId: id, name, checkType: 'API' as const, slotMs, location: 'office' };
      const hasFailures = failsEvery > 0 && index % failsEvery === 0;
      return runOf(of, { responseTime: ms, hasFailures, apiCheckResult: httpDetail(ms) });
    });
    await deliver(service, keys.office, runs);
  }
  const idle = { ...ORDERS, name: 'Idle', tags: [], privateLocations: ['office'] };
  await addCheck(account, service, 'idle', idle);
  await makeHeartbeat(account);
}
