import { setMaxListeners } from 'node:events';
import { createAccounts } from './accounts/accounts.ts';
import { createAllowance } from './accounts/allowance.ts';
import { createAgentErrors } from './agent-errors/agent-errors.ts';
import { DEFAULT_AGENT_LIMITS } from './agents/agent-limits.ts';
import { createAgents } from './agents/agents.ts';
import { createAssigner } from './agents/assignment/assigner.ts';
import { createAlertFeatures } from './alerts/create-feature.ts';
import { maintenanceSilences } from './alerts/maintenance-silences.ts';
import { createAnalytics } from './analytics/analytics.ts';
import { createReportQueue } from './analytics/report-queue.ts';
import { createAvailability } from './analytics/rollups/availability.ts';
import { createRollUps } from './analytics/rollups/roll-up.ts';
import { saveRunMetrics } from './analytics/save-run-metrics.ts';
import { createCheckSummaries } from './analytics/summaries/summaries.ts';
import { createApiKeys } from './api-keys/api-keys.ts';
import { createArtifacts } from './artifacts/artifacts.ts';
import { DEFAULT_AUDIT_DAYS } from './audit-log/audit-config.ts';
import { createAuditLog } from './audit-log/audit-log.ts';
import { createBulkFeature } from './bulk/create-feature.ts';
import { createCertificates } from './certificates/certificates.ts';
import { createCheckGroups } from './check-groups/check-groups.ts';
import { createCheckRuns } from './check-runs/check-runs.ts';
import { createCheckTrials } from './check-trials/check-trials.ts';
import { createChecks } from './checks/checks.ts';
import { sealedVariablesOf } from './checks/shared.sql.ts';
import { createCheckVariables } from './checks/variables/check-variables.ts';
import { createClientCertificates } from './client-certificates/client-certificates.ts';
import { DEFAULT_ROLLUP_DAYS } from './config.ts';
import { runVacuum } from './database/pglite/vacuum.ts';
import { recordedStore } from './database/recorded-store.ts';
import { createErrorGroups } from './error-groups/error-groups.ts';
import { createEvents } from './events/events.ts';
import type { FeatureParts, Features } from './feature-types.ts';
import { createGroupRuns } from './group-runs/group-runs.ts';
import { createHeartbeatFeatures } from './heartbeats/create-feature.ts';
import { ServiceAddress } from './http/access/service-address.ts';
import { createIdempotency } from './idempotency/idempotency.ts';
import { createMaintenanceWindows } from './maintenance-windows/maintenance-windows.ts';
import { DEFAULT_ARTIFACT_LIMITS } from './object-store/artifacts-config.ts';
import { createIdentities } from './oidc/identities.ts';
import { createProvider } from './oidc/provider.ts';
import type { Oidc } from './oidc/routes.ts';
import { ServiceLinkBase } from './outgoing/link-base.ts';
import { NO_OUTGOING } from './outgoing/outgoing-config.ts';
import { reachableAddresses } from './outgoing/reachable-addresses.ts';
import { createOwnHeartbeat } from './own-heartbeat/own-heartbeat.ts';
import { createLocationKeys } from './private-locations/location-keys.ts';
import { createPrivateLocations } from './private-locations/private-locations.ts';
import { createProxyPasswords } from './private-locations/proxy-passwords.ts';
import { createLocationSilence } from './private-locations/silent-locations.ts';
import { createCheckResults } from './results/check-results.ts';
import { createAgentClocks } from './results/intake/agent-clocks.ts';
import { createResultIntake } from './results/intake/intake.ts';
import { ResultStorage } from './results/intake/result-storage.ts';
import { createMissedSlots } from './results/missed-slots/missed-slots.ts';
import { createRuns } from './results/runs/runs.ts';
import { createResultPartitions } from './results/shared.sql.ts';
import { createCheckStatuses } from './results/statuses/check-statuses.ts';
import { createOutdatedStates } from './results/statuses/outdated-states.ts';
import { createConfiguredAnalyses } from './root-cause/create-feature.ts';
import { createSecretScrubbing } from './secrets/secret-scrubbing.ts';
import { createUserFeatures, type UserFeatures } from './sessions/create-feature.ts';
import { createSnippets } from './snippets/snippets.ts';
import { createStateCounter } from './state-counts/state-counts.ts';
import { createPageAccess } from './status-pages/access/page-access.ts';
import { createStatusPageFeatures } from './status-pages/create-feature.ts';
import { createPageHistories } from './status-pages/history/page-history.ts';
import { createStatusPageSummaries } from './status-pages/page-summary.ts';
import { createPictureSource } from './status-pages/pictures/fetch-picture.ts';
import { createDomainChecks } from './status-pages/site/domain-check.ts';
import { createDomainProbe } from './status-pages/site/domain-probe.ts';
import { DomainRules } from './status-pages/site/domain-rules.ts';
import { createStatusSite } from './status-pages/site/site.ts';
import { createPageStates } from './status-pages/state/page-state.ts';
import { createSubscriptionFeatures } from './status-pages/subscriptions/create-feature.ts';
import { createTestSessions } from './test-sessions/test-sessions.ts';
import { createPasswords } from './users/password-hashing.ts';
import { createVariableUses } from './variables/uses.ts';
import { createVariables } from './variables/variables.ts';

export function createFeatures(given: FeatureParts): Features {
  const { log } = given;
  const store = recordedStore(given.store);
  const allowance = createAllowance(given.plans, given.config.allowSubMinute);
  const parts = { ...given, store, allowance };
  const { leaseMs, agentLimits = DEFAULT_AGENT_LIMITS, retentionDays } = parts.config;
  const partitions = createResultPartitions({ ...parts, retentionDays });
  const variables = createVariables(parts);
  const checkVariables = createCheckVariables(parts);
  const proxyPasswords = createProxyPasswords(parts);
  const scrubbing = createSecretScrubbing({ ...parts, variables, checkVariables });
  const checkRuns = createCheckRuns({ ...parts, checkVariables, retentionDays });
  const groupRuns = createGroupRuns({ ...parts, retentionDays });
  const checkTrials = createCheckTrials({ ...parts, checkVariables, scrubbing });
  const artifacts = createArtifacts({
    ...parts,
    retentionDays,
    limits: parts.config.artifacts?.limits ?? DEFAULT_ARTIFACT_LIMITS,
  });
  const missedSlots = createMissedSlots({ ...parts, retentionDays });
  const assigner = createAssigner({ ...parts, agentLimits });
  const agentClocks = createAgentClocks(parts);
  const clientCertificates = createClientCertificates(parts);
  const maintenanceWindows = createMaintenanceWindows(parts);
  const { delivery = NO_OUTGOING } = parts.config;
  const reachable = reachableAddresses(delivery);
  const { proxies } = delivery;
  const pictureSource =
    parts.pictureSource ?? createPictureSource({ ...parts, reachable, proxies });
  const { passwords = createPasswords() } = parts;
  const { publicUrl = null } = parts.config;
  const { serviceHosts: hosts = [], customDomains = null } = parts.config;
  const domainRules = new DomainRules({ publicUrl, serviceHosts: hosts, customDomains });
  const statusPageFeatures = createStatusPageFeatures({
    ...parts,
    domainRules,
    passwords,
    retentionDays,
    pictureSource,
  });
  const alertFeatures = createAlertFeatures({
    ...parts,
    ...statusPageFeatures,
    retentionDays,
    delivery,
    linkBase: parts.linkBase ?? new ServiceLinkBase(publicUrl),
    dataDir: parts.config.dataDir ?? null,
  });
  const subscriptionFeatures = createSubscriptionFeatures({
    ...parts,
    retentionDays,
    delivery: parts.config.delivery,
    publicUrl,
    webhookGuard: parts.subscriberGuard,
    limits: parts.config.subscribeLimits,
  });
  const { alertEngine } = alertFeatures;
  const rootCauseAnalyses = createConfiguredAnalyses({
    ...parts,
    retentionDays,
    rootCause: parts.config.rootCause ?? { model: null },
    proxies,
    secretsOf: async (key) => {
      const sealed = await sealedVariablesOf(store, key);
      const own = sealed === null ? [] : checkVariables.secretValues(key, sealed);
      return [...own, ...(await variables.secretValues(store, key.accountId))];
    },
  });
  const { analysesOf } = rootCauseAnalyses;
  const errorGroups = createErrorGroups({ ...parts, retentionDays, analysesOf });
  const testSessions = createTestSessions({ ...parts, errorGroups, retentionDays, scrubbing });
  const { rollUpRetentionDays = DEFAULT_ROLLUP_DAYS } = parts.config;
  const rollUps = createRollUps({ ...parts, retentionDays, rollUpRetentionDays });
  const heartbeatFeatures = createHeartbeatFeatures({
    ...parts,
    alerts: alertEngine,
    retentionDays,
    rollUpRetentionDays,
  });
  const locationSilence = createLocationSilence({
    ...parts,
    ...alertFeatures,
    leaseMs,
    retentionDays,
  });
  const outdatedStates = createOutdatedStates(parts);
  const stateCounter = createStateCounter(parts);
  const checks = createChecks({ ...parts, checkVariables, outdatedStates });
  const { auditRetentionDays = DEFAULT_AUDIT_DAYS } = parts.config;
  const auditLog = createAuditLog({ ...parts, retentionDays: auditRetentionDays });
  const events = createEvents(parts);
  const idempotency = createIdempotency(parts);
  const userFeatures = createUserFeatures({
    ...parts,
    limits: parts.config.sessions,
    passwords,
    failedSignIns: auditLog.failedSignIns,
  });
  const availability = createAvailability({ ...parts, retentionDays });
  const pageStates = createPageStates({ ...parts, availability, outdatedStates });
  const statusSite = createStatusSite({ ...parts, domainRules, pageStates });
  const serviceAddress = new ServiceAddress(publicUrl);
  const pageAccess = createPageAccess({
    ...parts,
    ...userFeatures,
    serviceAddress,
    pages: statusSite.pages,
    passwords,
  });
  const resultStorage = new ResultStorage(parts);
  const ownHeartbeat = createOwnHeartbeat({
    ...parts,
    takesResults: () => resultStorage.takes(),
    config: parts.config.ownHeartbeat ?? null,
    proxies,
  });
  const maintenance = [
    (signal: AbortSignal) => assigner.run(signal),
    partitions.maintain,
    rollUps.maintain,
    checkRuns.maintain,
    groupRuns.maintain,
    checkTrials.maintain,
    artifacts.maintain,
    missedSlots.maintain,
    locationSilence.maintain,
    outdatedStates.maintain,
    stateCounter.maintain,
    errorGroups.maintain,
    events.maintain,
    rootCauseAnalyses.maintain,
    testSessions.maintain,
    ...alertFeatures.alertKeepers,
    statusPageFeatures.statusPageIncidents.maintain,
    statusSite.maintain,
    statusPageFeatures.pagePictures.maintain,
    ...subscriptionFeatures.subscriptionKeepers,
    heartbeatFeatures.heartbeatWatch.maintain,
    idempotency.maintain,
    auditLog.maintain,
    userFeatures.sessions.maintain,
    userFeatures.signInThrottle.maintain,
    userFeatures.invitations.maintain,
    ownHeartbeat.maintain,
    (signal: AbortSignal) => runVacuum(parts, signal),
  ];
  const agents = createAgents({
    ...parts,
    checkRuns,
    checkTrials,
    checkVariables,
    proxyPasswords,
    leaseMs,
    agentLimits,
    settingsOf: async (sql, accountId) => ({
      settings: {
        clientCertificates: await clientCertificates.forAgents(sql, accountId),
        pauses: [...(await maintenanceWindows.pausesForAgents(sql, accountId))],
      },
      ...(await variables.sentToAgents(sql, accountId)),
    }),
    scrubberOf: scrubbing.scrubberOf,
  });
  const reports = { ...parts, queue: createReportQueue(parts) };
  return {
    ...alertFeatures,
    ...heartbeatFeatures,
    ...statusPageFeatures,
    ...subscriptionFeatures,
    ...userFeatures,
    accounts: createAccounts(parts),
    agentErrors: createAgentErrors({ store }),
    agents,
    analytics: createAnalytics(reports),
    apiKeys: createApiKeys(parts),
    artifacts,
    auditLog,
    availability,
    bulkChecks: createBulkFeature({
      ...parts,
      ...heartbeatFeatures,
      checkVariables,
      outdatedStates,
      checks,
      checkRuns,
    }),
    checkGroups: createCheckGroups(parts),
    checkResults: createCheckResults(parts),
    checkRuns,
    checkStatuses: createCheckStatuses({
      ...parts,
      availability,
      outdatedStates,
      silences: maintenanceSilences,
      acknowledgements: alertFeatures.acknowledgements,
    }),
    checkSummaries: createCheckSummaries({ ...reports, outdatedStates }),
    checkTrials,
    checks,
    clientCertificates,
    domainChecks: createDomainChecks({
      ...statusPageFeatures,
      probe: parts.domainProbe ?? createDomainProbe(reachable, proxies),
      domainRules,
      reachable,
      publicUrl,
    }),
    errorGroups,
    events,
    groupRuns,
    idempotency,
    locationKeys: createLocationKeys(parts),
    locationSilence,
    maintenanceWindows,
    missedSlots,
    plans: parts.plans,
    oidc: oidcOf(parts, userFeatures),
    pageAccess,
    pageHistories: createPageHistories(parts),
    pageStates,
    privateLocations: createPrivateLocations({ ...parts, proxyPasswords }),
    resultIntake: createResultIntake({
      ...parts,
      partitions,
      checkRuns,
      agentClocks,
      scrubbing,
      storage: resultStorage,
      // Analyses before groups: they need to know which groups are new.
      followers: [rootCauseAnalyses.follow, errorGroups.follow, saveRunMetrics, alertEngine.follow],
    }),
    resultStorage,
    rollUps,
    rootCauseAnalyses,
    runs: createRuns(parts),
    serviceAddress,
    snippets: createSnippets(parts),
    staticIpv6s: parts.config.staticIpv6s,
    statusPageSummaries: createStatusPageSummaries({ store, pageStates }),
    statusSite,
    testSessions,
    variables,
    variableUses: createVariableUses(parts),
    certificates: createCertificates({ ...parts, clientCertificates }),
    counts: () => ({
      deferredRecords: agentClocks.deferredRecords,
      artifacts: artifacts.counts(),
      agentRefusals: agents.refusals,
      silence: locationSilence.counts(),
      events: events.counts(),
      signIns: auditLog.failedSignIns.counts,
      subscriptions: subscriptionFeatures.subscriptionCounts(),
      states: stateCounter.counts(),
      alertDeliveries: alertFeatures.alertDeliveryCounts,
      alertRepeats: alertFeatures.alertRepeatCounts,
      ownHeartbeats: ownHeartbeat.counts,
      problems: alertFeatures.monitoringProblems.counts(),
    }),
    async work(signal) {
      // Each maintenance task adds a listener; Node would otherwise warn of a leak.
      setMaxListeners(0, signal);
      const ends = await Promise.allSettled(maintenance.map((run) => run(signal)));
      for (const end of ends) {
        if (end.status === 'rejected') log.error({ err: end.reason }, 'a fault of the service');
      }
    },
  };
}

function oidcOf(
  { store, clock, log, ids, config: { oidc: config = null, delivery } }: FeatureParts,
  { sessions }: UserFeatures,
): Oidc | null {
  if (config === null) return null;
  return {
    provider: createProvider(config, { clock, log, proxies: delivery?.proxies }),
    identities: createIdentities({ store, clock, ids, sessions, config }),
    sessionMaxMs: config.sessionMaxMs,
  };
}
