import type { FastifyPluginAsync } from 'fastify';
import type { Features } from '../features.ts';
import { accountsRoutes } from './routes/accounts.ts';
import { agentArtifactsRoutes } from './routes/agent/artifacts.ts';
import { agentErrorsRoutes } from './routes/agent/errors.ts';
import { handoversRoutes } from './routes/agent/handovers.ts';
import { pollRoutes } from './routes/agent/poll.ts';
import { releaseRoutes } from './routes/agent/release.ts';
import { agentResultsRoutes } from './routes/agent/results.ts';
import { locationAgentErrorsRoutes } from './routes/agent-errors.ts';
import { alertChannelsRoutes } from './routes/alert-channels.ts';
import { alertDeliveriesRoutes } from './routes/alert-deliveries.ts';
import { alertSettingsRoutes } from './routes/alert-settings.ts';
import { analyticsRoutes } from './routes/analytics.ts';
import { apiKeysRoutes } from './routes/api-keys.ts';
import { artifactsRoutes } from './routes/artifacts.ts';
import { checkAlertsRoutes } from './routes/check-alerts.ts';
import { checkGroupsRoutes } from './routes/check-groups.ts';
import { checkResultsRoutes } from './routes/check-results.ts';
import { checkRunsRoutes } from './routes/check-runs.ts';
import { checkStatusesRoutes } from './routes/check-statuses.ts';
import { checksRoutes } from './routes/checks.ts';
import { clientCertificatesRoutes } from './routes/client-certificates.ts';
import { entitlementsRoutes } from './routes/entitlements.ts';
import { errorGroupsRoutes } from './routes/error-groups.ts';
import { heartbeatEventsRoutes } from './routes/heartbeat-events.ts';
import { heartbeatPingsRoutes } from './routes/heartbeat-pings.ts';
import { heartbeatsRoutes } from './routes/heartbeats.ts';
import { incidentsRoutes } from './routes/incidents.ts';
import { locationAgentsRoutes } from './routes/location-agents.ts';
import { maintenanceWindowsRoutes } from './routes/maintenance-windows.ts';
import { missedSlotsRoutes } from './routes/missed-slots.ts';
import { privateLocationsRoutes } from './routes/private-locations.ts';
import { rootCauseAnalysesRoutes } from './routes/root-cause-analyses.ts';
import { snippetsRoutes } from './routes/snippets.ts';
import { staticIpv6sRoutes } from './routes/static-ipv6s.ts';
import { statusPageIncidentsRoutes } from './routes/status-page-incidents.ts';
import { statusPageServicesRoutes } from './routes/status-page-services.ts';
import { statusPagesRoutes } from './routes/status-pages.ts';
import { testSessionErrorGroupsRoutes } from './routes/test-session-error-groups.ts';
import { testSessionsRoutes } from './routes/test-sessions.ts';
import { variablesRoutes } from './routes/variables.ts';

/** Every route of the API, by resource, in the order of the documentation. */
export function apiRoutes(
  features: Features,
  /** Aborts when the service stops. */
  stopping: AbortSignal,
): readonly FastifyPluginAsync[] {
  return [
    checksRoutes(features),
    heartbeatsRoutes(features),
    heartbeatEventsRoutes(features),
    heartbeatPingsRoutes(features),
    checkRunsRoutes(features),
    checkResultsRoutes(features),
    checkStatusesRoutes(features),
    checkAlertsRoutes(features),
    alertSettingsRoutes(features),
    alertChannelsRoutes({ ...features, stopping }),
    alertDeliveriesRoutes(features),
    missedSlotsRoutes(features),
    errorGroupsRoutes(features),
    rootCauseAnalysesRoutes(features),
    testSessionsRoutes(features),
    testSessionErrorGroupsRoutes(features),
    analyticsRoutes(features),
    artifactsRoutes(features),
    checkGroupsRoutes(features),
    maintenanceWindowsRoutes(features),
    privateLocationsRoutes(features),
    locationAgentsRoutes(features),
    locationAgentErrorsRoutes(features),
    staticIpv6sRoutes(features),
    variablesRoutes(features),
    clientCertificatesRoutes(features),
    snippetsRoutes(features),
    accountsRoutes(features),
    entitlementsRoutes(features),
    statusPagesRoutes(features),
    statusPageServicesRoutes(features),
    statusPageIncidentsRoutes(features),
    incidentsRoutes(features),
    apiKeysRoutes(features),
    pollRoutes({ ...features, stopping }),
    agentResultsRoutes(features),
    agentArtifactsRoutes(features),
    handoversRoutes(features),
    releaseRoutes(features),
    agentErrorsRoutes(features),
  ];
}
