import { DASHBOARD_PATHS } from '../../../src/web/dashboard-paths.ts';
import type { FullAccount } from './full-account.ts';

type IdsOf = (account: FullAccount) => readonly (string | undefined)[];

/** The account's own values for the parameters of each path, in order. */
const OWN_IDS: Readonly<Record<string, IdsOf>> = {
  '/v1/checks/{id}': ({ checkIds }) => [checkIds.url],
  '/v1/checks/url/{id}': ({ checkIds }) => [checkIds.url],
  '/v1/checks/api/{id}': ({ checkIds }) => [checkIds.api],
  '/v1/checks/tcp/{id}': ({ checkIds }) => [checkIds.tcp],
  '/v1/checks/dns/{id}': ({ checkIds }) => [checkIds.dns],
  '/v1/checks/icmp/{id}': ({ checkIds }) => [checkIds.icmp],
  '/v1/checks/heartbeats/{id}': ({ ids }) => [ids.heartbeat],
  '/v1/checks/heartbeats/{id}/ping-token': ({ ids }) => [ids.heartbeat],
  '/v1/checks/heartbeats/{checkId}/events': ({ ids }) => [ids.heartbeat],
  '/v1/checks/heartbeats/{checkId}/events/{id}': ({ ids }) => [ids.heartbeat, ids.heartbeatEvent],
  '/heartbeat/{token}': ({ ids }) => [ids.pingToken],
  '/v1/checks/{id}/run': ({ checkIds }) => [checkIds.url],
  '/v1/check-runs/{id}': ({ ids }) => [ids.run],
  '/v1/check-trials/{id}': ({ ids }) => [ids.trial],
  '/v1/check-results/{checkId}': ({ checkIds }) => [checkIds.url],
  '/v1/check-results/{checkId}/{id}': ({ checkIds, ids }) => [checkIds.url, ids.result],
  '/v1/check-results/{checkId}/{resultId}/artifacts': ({ checkIds, ids }) => [
    checkIds.url,
    ids.result,
  ],
  '/v1/check-results/{checkId}/{id}/explanation': ({ checkIds, ids }) => [checkIds.url, ids.result],
  '/v1/checks/{checkId}/runs': ({ checkIds }) => [checkIds.url],
  '/v1/checks/{id}/check-file': ({ checkIds }) => [checkIds.url],
  '/v1/artifacts/{id}': ({ ids }) => [ids.artifact],
  '/v1/check-statuses/{checkId}': ({ checkIds }) => [checkIds.url],
  '/v1/missed-slots/{checkId}': ({ checkIds }) => [checkIds.url],
  '/v1/checks/{checkId}/availability': ({ checkIds }) => [checkIds.url],
  '/v1/accounts/{accountId}': ({ accountId }) => [accountId],
  '/v1/accounts/{accountId}/alert-settings': ({ accountId }) => [accountId],
  '/v1/accounts/{accountId}/entitlements': ({ accountId }) => [accountId],
  '/v1/alert-channels/{id}': ({ ids }) => [ids.webhook],
  // No webhook, so that no request leaves the machine.
  '/v1/alert-channels/{id}/test': ({ ids }) => [ids.channel],
  '/v1/alert-channels/{id}/compare': ({ ids }) => [ids.webhook],
  '/v1/alert-channels/{id}/deliveries': ({ ids }) => [ids.channel],
  '/v1/alert-channels/{id}/deliveries/{deliveryId}/resend': ({ ids }) => [
    ids.channel,
    ids.delivery,
  ],
  '/v1/check-alerts/{id}': ({ ids }) => [ids.alert],
  '/v1/check-alerts/{id}/deliveries': ({ ids }) => [ids.alert],
  '/v1/check-alerts/{id}/acknowledge': ({ ids }) => [ids.alert],
  '/v1/check-alerts/{id}/unacknowledge': ({ ids }) => [ids.alert],
  '/v1/checks/{id}/alert-recipients': ({ checkIds }) => [checkIds.url],
  '/v1/error-groups/{id}': ({ ids }) => [ids.errorGroup],
  '/v1/error-groups/{id}/occurrences': ({ ids }) => [ids.errorGroup],
  '/v1/root-cause-analyses/{id}': ({ ids }) => [ids.analysis],
  '/v1/test-sessions/{id}': ({ ids }) => [ids.session],
  '/v1/test-sessions/{id}/results': ({ ids }) => [ids.session],
  '/v1/test-session-error-groups/{id}': ({ ids }) => [ids.sessionErrorGroup],
  '/v1/test-session-error-groups/projects/{projectId}': ({ ids }) => [ids.project],
  '/v1/analytics/url/{id}': ({ checkIds }) => [checkIds.url],
  '/v1/analytics/api-checks/{id}': ({ checkIds }) => [checkIds.api],
  '/v1/analytics/tcp/{id}': ({ checkIds }) => [checkIds.tcp],
  '/v1/analytics/dns/{id}': ({ checkIds }) => [checkIds.dns],
  '/v1/analytics/icmp/{id}': ({ checkIds }) => [checkIds.icmp],
  '/v1/check-groups/{id}': ({ ids }) => [ids.group],
  '/v1/check-groups/{id}/run': ({ ids }) => [ids.group],
  '/v1/check-group-runs/{id}': ({ ids }) => [ids.groupRun],
  '/v1/maintenance-windows/{id}': ({ ids }) => [ids.window],
  '/v1/private-locations/{id}': ({ ids }) => [ids.location],
  '/v1/private-location-statuses/{id}': ({ ids }) => [ids.location],
  '/v1/private-locations/{id}/keys': ({ ids }) => [ids.location],
  '/v1/private-locations/{id}/keys/{keyId}': ({ ids }) => [ids.location, ids.locationKey],
  '/v1/private-locations/{id}/agents': ({ ids }) => [ids.location],
  '/v1/private-locations/{id}/agents/{agentId}': ({ ids }) => [ids.location, ids.agent],
  '/v1/private-locations/{id}/agents/{agentId}/allow': ({ ids }) => [ids.location, ids.agent],
  '/v1/private-locations/{id}/agent-errors': ({ ids }) => [ids.location],
  '/v1/variables/{key}': ({ ids }) => [ids.variable],
  '/v1/client-certificates/{id}': ({ ids }) => [ids.certificate],
  '/v1/snippets/{id}': ({ ids }) => [ids.snippet],
  '/v1/status-pages/{statusPageId}': ({ ids }) => [ids.page],
  '/v1/status-pages/{statusPageId}/summary': ({ ids }) => [ids.page],
  '/v1/status-pages/{statusPageId}/domain-check': ({ ids }) => [ids.page],
  '/v1/status-pages/{statusPageId}/fetch-pictures': ({ ids }) => [ids.page],
  '/v1/status-pages/{statusPageId}/subscribers': ({ ids }) => [ids.page],
  '/v1/status-pages/{statusPageId}/subscribers/{subscriberId}': ({ ids }) => [
    ids.page,
    ids.subscriber,
  ],
  '/v1/status-pages/services/{serviceId}': ({ ids }) => [ids.service],
  '/v1/status-pages/incidents/{incidentId}': ({ ids }) => [ids.pageIncident],
  '/v1/status-pages/incidents/{incidentId}/incident-updates': ({ ids }) => [ids.pageIncident],
  '/v1/status-pages/incidents/{incidentId}/incident-updates/{updateId}': ({ ids }) => [
    ids.pageIncident,
    ids.pageIncidentUpdate,
  ],
  '/v1/incidents/{incidentId}': ({ ids }) => [ids.incident],
  '/v1/incidents/{incidentId}/incident-updates': ({ ids }) => [ids.incident],
  '/v1/incidents/{incidentId}/incident-updates/{updateId}': ({ ids }) => [
    ids.incident,
    ids.incidentUpdate,
  ],
  '/v1/api-keys/{id}': ({ ids }) => [ids.apiKey],
  '/v1/users/{id}': ({ ids }) => [ids.user],
  '/v1/invitations/{id}': ({ ids }) => [ids.invitation],
  '/assets/{name}': () => ['no-such-file.js'],
  '/acknowledge/{token}': () => ['no-such-link'],
  '/acknowledge/{token}/undo': () => ['no-such-link'],
  '/sign-in/{token}': () => ['no-such-link'],
  '/setup/{token}': () => ['no-such-link'],
  '/password/{token}': () => ['no-such-link'],
  '/invitations/{token}': () => ['no-such-link'],
  '/v1/sessions/{id}': ({ ids }) => [ids.userSession],
  '/agent/v1/artifacts/{uploadId}/complete': ({ ids }) => [ids.upload],
  '/agent/v1/artifacts/{uploadId}/parts/{n}': ({ ids }) => [ids.upload, '1'],
};

const OF_DASHBOARD: ReadonlySet<string> = new Set(
  Object.values(DASHBOARD_PATHS).map((path) => path.replaceAll(/:(\w+)/g, '{$1}')),
);

/**
 * The values of a path's parameters, with `{name}` for each.
 *
 * @throws Error if the table lacks the path or an id of a parameter
 */
export function ownIds(path: string, account: FullAccount): readonly string[] {
  const count = path.match(/\{\w+\}/g)?.length ?? 0;
  if (count === 0) return [];
  // The site of status pages is open to everybody: what it may show is tested there.
  if (path.startsWith('/status/{url}')) return Array<string>(count).fill('no-such-page');
  // All paths of the dashboard have the same page, which gets what it shows by the API.
  if (OF_DASHBOARD.has(path)) return Array<string>(count).fill('any');
  const ids = (OWN_IDS[path]?.(account) ?? []).filter((id) => id !== undefined && id !== '');
  if (ids.length === count) return ids as readonly string[];
  throw new Error(`test/support/hostile/path-parameters.ts lacks an id of a parameter of ${path}`);
}
