import { setMaxListeners } from 'node:events';
import type { Plans } from '../model/account/plan.ts';
import type { NotificationAttempt } from '../model/alerting/notification-attempt.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { AddressGuard } from '../runtime/net/address-guard.ts';
import type { SecretBox } from '../runtime/secret-box.ts';
import { type Accounts, createAccounts } from './accounts/accounts.ts';
import { createAllowance } from './accounts/allowance.ts';
import { type AgentErrors, createAgentErrors } from './agent-errors/agent-errors.ts';
import { DEFAULT_AGENT_LIMITS } from './agents/agent-limits.ts';
import { type Agents, createAgents } from './agents/agents.ts';
import { createAssigner } from './agents/assignment/assigner.ts';
import type { LocationWake } from './agents/assignment/location-wake.ts';
import { type AlertFeatures, createAlertFeatures } from './alerts/create-feature.ts';
import { maintenanceSilences } from './alerts/maintenance-silences.ts';
import { type Analytics, createAnalytics } from './analytics/analytics.ts';
import { createReportQueue } from './analytics/report-queue.ts';
import { type Availability, createAvailability } from './analytics/rollups/availability.ts';
import { createRollUps, type RollUps } from './analytics/rollups/roll-up.ts';
import { saveRunMetrics } from './analytics/save-run-metrics.ts';
import { type CheckSummaries, createCheckSummaries } from './analytics/summaries/summaries.ts';
import { type ApiKeys, createApiKeys } from './api-keys/api-keys.ts';
import { type Artifacts, createArtifacts } from './artifacts/artifacts.ts';
import { DEFAULT_AUDIT_DAYS } from './audit-log/audit-config.ts';
import { type AuditLog, createAuditLog } from './audit-log/audit-log.ts';
import type { BulkChecks } from './bulk/bulk-checks.ts';
import { createBulkFeature } from './bulk/create-feature.ts';
import { type Certificates, createCertificates } from './certificates/certificates.ts';
import { type CheckGroups, createCheckGroups } from './check-groups/check-groups.ts';
import { type CheckRuns, createCheckRuns } from './check-runs/check-runs.ts';
import { type CheckTrials, createCheckTrials } from './check-trials/check-trials.ts';
import { type Checks, createChecks } from './checks/checks.ts';
import { sealedVariablesOf } from './checks/shared.sql.ts';
import { createCheckVariables } from './checks/variables/check-variables.ts';
import {
  type ClientCertificates,
  createClientCertificates,
} from './client-certificates/client-certificates.ts';
import { DEFAULT_ROLLUP_DAYS, type ServiceConfig } from './config.ts';
import { runVacuum } from './database/pglite/vacuum.ts';
import { recordedStore } from './database/recorded-store.ts';
import type { Store } from './database/store.ts';
import { createErrorGroups, type ErrorGroups } from './error-groups/error-groups.ts';
import { createEvents, type Events } from './events/events.ts';
import { createGroupRuns, type GroupRuns } from './group-runs/group-runs.ts';
import { createHeartbeatFeatures, type HeartbeatFeatures } from './heartbeats/create-feature.ts';
import { ServiceAddress } from './http/access/service-address.ts';
import type { FeatureCounts } from './http/metrics.ts';
import { createIdempotency, type Idempotency } from './idempotency/idempotency.ts';
import {
  createMaintenanceWindows,
  type MaintenanceWindows,
} from './maintenance-windows/maintenance-windows.ts';
import type { ArtifactStore } from './object-store/artifact-store.ts';
import { type ArtifactLimits, DEFAULT_ARTIFACT_LIMITS } from './object-store/artifacts-config.ts';
import { createIdentities } from './oidc/identities.ts';
import { createProvider } from './oidc/provider.ts';
import type { Oidc } from './oidc/routes.ts';
import { type LinkBase, ServiceLinkBase } from './outgoing/link-base.ts';
import { NO_OUTGOING, type OutgoingConfig } from './outgoing/outgoing-config.ts';
import { reachableAddresses } from './outgoing/reachable-addresses.ts';
import { createOwnHeartbeat } from './own-heartbeat/own-heartbeat.ts';
import { createLocationKeys, type LocationKeys } from './private-locations/location-keys.ts';
import {
  createPrivateLocations,
  type PrivateLocations,
} from './private-locations/private-locations.ts';
import { createProxyPasswords } from './private-locations/proxy-passwords.ts';
import {
  createLocationSilence,
  type LocationSilence,
} from './private-locations/silent-locations.ts';
import { type CheckResults, createCheckResults } from './results/check-results.ts';
import { createAgentClocks } from './results/intake/agent-clocks.ts';
import { createResultIntake, type ResultIntake } from './results/intake/intake.ts';
import { ResultStorage } from './results/intake/result-storage.ts';
import { createMissedSlots, type MissedSlotsFeature } from './results/missed-slots/missed-slots.ts';
import { createRuns, type Runs } from './results/runs/runs.ts';
import { createResultPartitions } from './results/shared.sql.ts';
import { type CheckStatuses, createCheckStatuses } from './results/statuses/check-statuses.ts';
import { createOutdatedStates } from './results/statuses/outdated-states.ts';
import { createConfiguredAnalyses } from './root-cause/create-feature.ts';
import type { RootCauseAnalyses } from './root-cause/root-cause-analyses.ts';
import { createSecretScrubbing } from './secrets/secret-scrubbing.ts';
import { createUserFeatures, type UserFeatures } from './sessions/create-feature.ts';
import { createSnippets, type Snippets } from './snippets/snippets.ts';
import { createStateCounter } from './state-counts/state-counts.ts';
import { createPageAccess, type PageAccess } from './status-pages/access/page-access.ts';
import {
  createStatusPageFeatures,
  type StatusPageFeatures,
} from './status-pages/create-feature.ts';
import { createPageHistories, type PageHistories } from './status-pages/history/page-history.ts';
import {
  createStatusPageSummaries,
  type StatusPageSummaries,
} from './status-pages/page-summary.ts';
import { createPictureSource, type PictureSource } from './status-pages/pictures/fetch-picture.ts';
import {
  createDomainChecks,
  type DomainChecks,
  type DomainProbe,
} from './status-pages/site/domain-check.ts';
import { createDomainProbe } from './status-pages/site/domain-probe.ts';
import { DomainRules } from './status-pages/site/domain-rules.ts';
import { createStatusSite, type StatusSite } from './status-pages/site/site.ts';
import { createPageStates, type PageStates } from './status-pages/state/page-state.ts';
import {
  createSubscriptionFeatures,
  type SubscriptionFeatures,
} from './status-pages/subscriptions/create-feature.ts';
import { createTestSessions, type TestSessions } from './test-sessions/test-sessions.ts';
import { createPasswords, type Passwords } from './users/password-hashing.ts';
import { createVariableUses, type VariableUses } from './variables/uses.ts';
import { createVariables, type Variables } from './variables/variables.ts';

/** The service without HTTP. */
export interface Features
  extends AlertFeatures,
    HeartbeatFeatures,
    StatusPageFeatures,
    SubscriptionFeatures,
    UserFeatures {
  readonly accounts: Accounts;
  readonly agentErrors: AgentErrors;
  readonly agents: Agents;
  readonly analytics: Analytics;
  readonly apiKeys: ApiKeys;
  readonly artifacts: Artifacts;
  readonly auditLog: AuditLog;
  readonly availability: Availability;
  readonly bulkChecks: BulkChecks;
  readonly checkGroups: CheckGroups;
  readonly checkResults: CheckResults;
  readonly checkRuns: CheckRuns;
  readonly checkStatuses: CheckStatuses;
  readonly checkSummaries: CheckSummaries;
  readonly checkTrials: CheckTrials;
  readonly checks: Checks;
  readonly clientCertificates: ClientCertificates;
  readonly domainChecks: DomainChecks;
  readonly errorGroups: ErrorGroups;
  readonly events: Events;
  readonly groupRuns: GroupRuns;
  readonly idempotency: Idempotency;
  readonly locationKeys: LocationKeys;
  readonly locationSilence: LocationSilence;
  readonly maintenanceWindows: MaintenanceWindows;
  readonly missedSlots: MissedSlotsFeature;
  readonly plans: Plans;
  /** Null if users sign in by password only. */
  readonly oidc: Oidc | null;
  readonly pageAccess: PageAccess;
  readonly pageHistories: PageHistories;
  readonly pageStates: PageStates;
  readonly privateLocations: PrivateLocations;
  readonly resultIntake: ResultIntake;
  readonly resultStorage: Pick<ResultStorage, 'takes'>;
  readonly rootCauseAnalyses: RootCauseAnalyses;
  readonly rollUps: Pick<RollUps, 'rollUp'>;
  readonly runs: Runs;
  readonly serviceAddress: ServiceAddress;
  readonly snippets: Snippets;
  readonly staticIpv6s: readonly string[];
  readonly statusPageSummaries: StatusPageSummaries;
  readonly statusSite: StatusSite;
  readonly testSessions: TestSessions;
  readonly variables: Variables;
  readonly variableUses: VariableUses;
  readonly certificates: Certificates;
  /** For the metrics. */
  counts(): FeatureCounts;
  /** Background work until the signal aborts: assigns, expires, cleans up. Never rejects. */
  work(signal: AbortSignal): Promise<void>;
}

export interface FeatureParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly wake: LocationWake;
  /** The contents of artifacts. */
  readonly contents: ArtifactStore;
  readonly plans: Plans;
  /** Encrypts stored secrets; null if there is no key. */
  readonly secrets: SecretBox | null;
  /** Whether credentials of checks and proxies are encrypted. Default: where there is a key. */
  readonly sealsCredentials?: () => boolean;
  readonly config: Pick<ServiceConfig, 'leaseMs' | 'retentionDays' | 'staticIpv6s'> & {
    readonly agentLimits?: ServiceConfig['agentLimits'];
    /** Default: 365. */
    readonly auditRetentionDays?: number;
    readonly publicUrl?: string | null;
    /** Default: false. */
    readonly allowSubMinute?: boolean;
    /** Default: none. */
    readonly dataDir?: ServiceConfig['dataDir'];
    /** Default: none. */
    readonly serviceHosts?: ServiceConfig['serviceHosts'];
    /** Default: any. */
    readonly customDomains?: ServiceConfig['customDomains'];
    /** Default: 400. */
    readonly rollUpRetentionDays?: number;
    readonly artifacts?: { readonly limits: ArtifactLimits };
    /** Default: all channels but e-mail and SMS. */
    readonly delivery?: OutgoingConfig;
    /** Default: only the rules. */
    readonly rootCause?: ServiceConfig['rootCause'];
    /** Default: DEFAULT_SESSION_LIMITS. */
    readonly sessions?: ServiceConfig['sessions'];
    readonly subscribeLimits?: ServiceConfig['subscribeLimits'];
    /** Default: none. */
    readonly ownHeartbeat?: ServiceConfig['ownHeartbeat'];
    /** Default: none. */
    readonly oidc?: ServiceConfig['oidc'];
  };
  /** Called for each attempt to send a notification. Default: for none. */
  readonly onAttempt?: (attempt: NotificationAttempt) => void;
  /** Whether people stop it with its agents, and let their machine sleep: `vedette up`. Default: false. */
  readonly isOnDemand?: boolean;
  /** Of links in notifications. Default: PUBLIC_URL. */
  readonly linkBase?: LinkBase;
  /** Default: the name servers of the machine, and what DELIVERY_DENY and DELIVERY_ALLOW let it reach. */
  readonly domainProbe?: DomainProbe;
  /** Default: those with the present cost. */
  readonly passwords?: Passwords;
  /** Default: by HTTP, from addresses that webhooks may reach, too. */
  readonly pictureSource?: PictureSource;
  /** Which addresses webhooks of subscribers may have. Default: public ones. */
  readonly subscriberGuard?: AddressGuard;
}

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
      // Each maintenance task adds listeners, which is no leak.
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
