import type { FastifyPluginAsync } from 'fastify';
import { entitlementsRoutes } from './accounts/entitlements.routes.ts';
import { accountsRoutes } from './accounts/routes.ts';
import { staticIpv6sRoutes } from './accounts/static-ipv6s.routes.ts';
import { agentErrorsRoutes } from './agent-errors/report.routes.ts';
import { locationAgentErrorsRoutes } from './agent-errors/routes.ts';
import { pollRoutes } from './agents/poll.routes.ts';
import { locationAgentsRoutes } from './agents/routes.ts';
import { alertSettingsRoutes } from './alerts/account-settings/routes.ts';
import { acknowledgementPagesRoutes } from './alerts/acknowledgements/page.routes.ts';
import { acknowledgementsRoutes } from './alerts/acknowledgements/routes.ts';
import { alertChannelsRoutes } from './alerts/channels/routes.ts';
import { alertDeliveriesRoutes } from './alerts/delivery/routes.ts';
import { messagePreviewRoutes } from './alerts/message-preview/routes.ts';
import { monitoringProblemsRoutes } from './alerts/monitoring-problems/routes.ts';
import { alertRecipientsRoutes } from './alerts/recipients/routes.ts';
import { checkAlertsRoutes } from './alerts/routes.ts';
import { availabilityRoutes } from './analytics/rollups/routes.ts';
import { analyticsRoutes } from './analytics/routes.ts';
import { checkSummariesRoutes } from './analytics/summaries/routes.ts';
import { apiKeysRoutes } from './api-keys/routes.ts';
import { artifactsRoutes } from './artifacts/routes.ts';
import { agentArtifactsRoutes } from './artifacts/upload.routes.ts';
import { auditLogRoutes } from './audit-log/routes.ts';
import { bulkChecksRoutes } from './bulk/routes.ts';
import { certificatesRoutes } from './certificates/routes.ts';
import { checkGroupsRoutes } from './check-groups/routes.ts';
import { handoversRoutes } from './check-runs/handovers.routes.ts';
import { checkRunsRoutes } from './check-runs/routes.ts';
import { agentTrialsRoutes } from './check-trials/report.routes.ts';
import { checkTrialsRoutes } from './check-trials/routes.ts';
import { checksRoutes } from './checks/routes.ts';
import { clientCertificatesRoutes } from './client-certificates/routes.ts';
import { dashboardRoutes } from './dashboard/routes.ts';
import { errorGroupsRoutes } from './error-groups/routes.ts';
import { eventsRoutes } from './events/routes.ts';
import type { Features } from './feature-types.ts';
import { groupRunsRoutes } from './group-runs/routes.ts';
import { heartbeatEventsRoutes } from './heartbeats/events.routes.ts';
import { heartbeatPingsRoutes } from './heartbeats/pings/routes.ts';
import { heartbeatsRoutes } from './heartbeats/routes.ts';
import { incidentsRoutes, statusPageIncidentsRoutes } from './incidents/routes.ts';
import { maintenanceWindowsRoutes } from './maintenance-windows/routes.ts';
import { oidcRoutes } from './oidc/routes.ts';
import { privateLocationsRoutes } from './private-locations/routes.ts';
import { locationStatusesRoutes } from './private-locations/statuses.routes.ts';
import { agentResultsRoutes } from './results/intake/routes.ts';
import { missedSlotsRoutes } from './results/missed-slots/routes.ts';
import { checkResultsRoutes } from './results/routes.ts';
import { runsRoutes } from './results/runs/routes.ts';
import { checkStateCountsRoutes } from './results/statuses/count.routes.ts';
import { checkStatusesRoutes } from './results/statuses/routes.ts';
import { rootCauseAnalysesRoutes } from './root-cause/routes.ts';
import { changePasswordRoutes } from './sessions/change-password.routes.ts';
import { sessionsRoutes } from './sessions/routes.ts';
import { snippetsRoutes } from './snippets/routes.ts';
import { statusPagesRoutes } from './status-pages/routes.ts';
import { statusPageServicesRoutes } from './status-pages/services.routes.ts';
import { domainCheckRoutes } from './status-pages/site/domain.routes.ts';
import { statusSiteRoutes } from './status-pages/site/routes.ts';
import { subscribersRoutes } from './status-pages/subscriptions/routes.ts';
import { testSessionErrorGroupsRoutes } from './test-sessions/error-groups.routes.ts';
import { testSessionsRoutes } from './test-sessions/routes.ts';
import { invitationsRoutes } from './users/invitations.routes.ts';
import { userPagesRoutes } from './users/pages/routes.ts';
import { usersRoutes } from './users/routes.ts';
import { variablesRoutes } from './variables/routes.ts';
import { variableUsesRoutes } from './variables/uses.routes.ts';

/** Every route of the API, by resource, in the order of the documentation. */
export function apiRoutes(
  features: Features,
  /** Aborts when the service stops. */
  stopping: AbortSignal,
): readonly FastifyPluginAsync[] {
  return [
    checksRoutes(features),
    bulkChecksRoutes({ ...features, stopping }),
    heartbeatsRoutes(features),
    heartbeatEventsRoutes(features),
    heartbeatPingsRoutes(features),
    checkTrialsRoutes({ ...features, stopping }),
    checkRunsRoutes(features),
    checkResultsRoutes(features),
    runsRoutes(features),
    checkStatusesRoutes(features),
    checkStateCountsRoutes(features),
    checkAlertsRoutes(features),
    acknowledgementsRoutes(features),
    alertRecipientsRoutes(features),
    alertSettingsRoutes(features),
    alertChannelsRoutes({ ...features, stopping }),
    messagePreviewRoutes(features),
    alertDeliveriesRoutes(features),
    monitoringProblemsRoutes(features),
    missedSlotsRoutes(features),
    eventsRoutes({ ...features, stopping }),
    errorGroupsRoutes(features),
    rootCauseAnalysesRoutes(features),
    testSessionsRoutes(features),
    testSessionErrorGroupsRoutes(features),
    analyticsRoutes(features),
    checkSummariesRoutes(features),
    availabilityRoutes(features),
    artifactsRoutes(features),
    checkGroupsRoutes(features),
    groupRunsRoutes(features),
    maintenanceWindowsRoutes(features),
    privateLocationsRoutes(features),
    locationStatusesRoutes(features),
    locationAgentsRoutes(features),
    locationAgentErrorsRoutes(features),
    staticIpv6sRoutes(features),
    variablesRoutes(features),
    variableUsesRoutes(features),
    clientCertificatesRoutes(features),
    certificatesRoutes(features),
    snippetsRoutes(features),
    accountsRoutes(features),
    entitlementsRoutes(features),
    statusPagesRoutes(features),
    domainCheckRoutes({ ...features, stopping }),
    statusPageServicesRoutes(features),
    subscribersRoutes(features),
    statusPageIncidentsRoutes(features),
    incidentsRoutes(features),
    statusSiteRoutes(features),
    apiKeysRoutes(features),
    usersRoutes(features),
    invitationsRoutes(features),
    auditLogRoutes(features),
    sessionsRoutes(features),
    changePasswordRoutes(features),
    acknowledgementPagesRoutes(features),
    userPagesRoutes({ ...features, hasProvider: features.oidc !== null }),
    oidcRoutes(features),
    dashboardRoutes(features),
    pollRoutes({ ...features, stopping }),
    agentResultsRoutes(features),
    agentArtifactsRoutes(features),
    agentTrialsRoutes(features),
    handoversRoutes(features),
    agentErrorsRoutes(features),
  ];
}
