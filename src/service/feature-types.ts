import type { Plans } from '../model/account/plan.ts';
import type { NotificationAttempt } from '../model/alerting/notification-attempt.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { AddressGuard } from '../runtime/net/address-guard.ts';
import type { SecretBox } from '../runtime/secret-box.ts';
import type { Accounts } from './accounts/accounts.ts';
import type { AgentErrors } from './agent-errors/agent-errors.ts';
import type { Agents } from './agents/agents.ts';
import type { LocationWake } from './agents/assignment/location-wake.ts';
import type { AlertFeatures } from './alerts/create-feature.ts';
import type { Analytics } from './analytics/analytics.ts';
import type { Availability } from './analytics/rollups/availability.ts';
import type { RollUps } from './analytics/rollups/roll-up.ts';
import type { CheckSummaries } from './analytics/summaries/summaries.ts';
import type { ApiKeys } from './api-keys/api-keys.ts';
import type { Artifacts } from './artifacts/artifacts.ts';
import type { AuditLog } from './audit-log/audit-log.ts';
import type { BulkChecks } from './bulk/bulk-checks.ts';
import type { Certificates } from './certificates/certificates.ts';
import type { CheckGroups } from './check-groups/check-groups.ts';
import type { CheckRuns } from './check-runs/check-runs.ts';
import type { CheckTrials } from './check-trials/check-trials.ts';
import type { Checks } from './checks/checks.ts';
import type { ClientCertificates } from './client-certificates/client-certificates.ts';
import type { ServiceConfig } from './config.ts';
import type { Store } from './database/store.ts';
import type { ErrorGroups } from './error-groups/error-groups.ts';
import type { Events } from './events/events.ts';
import type { GroupRuns } from './group-runs/group-runs.ts';
import type { HeartbeatFeatures } from './heartbeats/create-feature.ts';
import type { ServiceAddress } from './http/access/service-address.ts';
import type { FeatureCounts } from './http/metrics.ts';
import type { Idempotency } from './idempotency/idempotency.ts';
import type { MaintenanceWindows } from './maintenance-windows/maintenance-windows.ts';
import type { ArtifactStore } from './object-store/artifact-store.ts';
import type { ArtifactLimits } from './object-store/artifacts-config.ts';
import type { Oidc } from './oidc/routes.ts';
import type { LinkBase } from './outgoing/link-base.ts';
import type { OutgoingConfig } from './outgoing/outgoing-config.ts';
import type { LocationKeys } from './private-locations/location-keys.ts';
import type { PrivateLocations } from './private-locations/private-locations.ts';
import type { LocationSilence } from './private-locations/silent-locations.ts';
import type { CheckResults } from './results/check-results.ts';
import type { ResultIntake } from './results/intake/intake.ts';
import type { ResultStorage } from './results/intake/result-storage.ts';
import type { MissedSlotsFeature } from './results/missed-slots/missed-slots.ts';
import type { Runs } from './results/runs/runs.ts';
import type { CheckStatuses } from './results/statuses/check-statuses.ts';
import type { RootCauseAnalyses } from './root-cause/root-cause-analyses.ts';
import type { UserFeatures } from './sessions/create-feature.ts';
import type { Snippets } from './snippets/snippets.ts';
import type { PageAccess } from './status-pages/access/page-access.ts';
import type { StatusPageFeatures } from './status-pages/create-feature.ts';
import type { PageHistories } from './status-pages/history/page-history.ts';
import type { StatusPageSummaries } from './status-pages/page-summary.ts';
import type { PictureSource } from './status-pages/pictures/fetch-picture.ts';
import type { DomainChecks, DomainProbe } from './status-pages/site/domain-check.ts';
import type { StatusSite } from './status-pages/site/site.ts';
import type { PageStates } from './status-pages/state/page-state.ts';
import type { SubscriptionFeatures } from './status-pages/subscriptions/create-feature.ts';
import type { TestSessions } from './test-sessions/test-sessions.ts';
import type { Passwords } from './users/password-hashing.ts';
import type { VariableUses } from './variables/uses.ts';
import type { Variables } from './variables/variables.ts';

/** All features of the service, without HTTP. */
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
  /** Counts for the metrics. */
  counts(): FeatureCounts;
  /** Runs the background work (assignment, expiry, clean-up) until the signal aborts. Never rejects. */
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
  /** Whether credentials of checks and proxies are encrypted. Default: if there is a key. */
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
    /** Default: all channels but email and SMS. */
    readonly delivery?: OutgoingConfig;
    /** Default: analyses use only the built-in rules. */
    readonly rootCause?: ServiceConfig['rootCause'];
    /** Default: DEFAULT_SESSION_LIMITS. */
    readonly sessions?: ServiceConfig['sessions'];
    readonly subscribeLimits?: ServiceConfig['subscribeLimits'];
    /** Default: none. */
    readonly ownHeartbeat?: ServiceConfig['ownHeartbeat'];
    /** Default: none. */
    readonly oidc?: ServiceConfig['oidc'];
  };
  /** Called for each attempt to send a notification. Default: not called. */
  readonly onAttempt?: (attempt: NotificationAttempt) => void;
  /** Whether the service is regularly stopped or asleep together with its agents, as with `vedette up`. Default: false. */
  readonly isOnDemand?: boolean;
  /** The base of links in notifications. Default: PUBLIC_URL. */
  readonly linkBase?: LinkBase;
  /** Default: uses the machine's name servers, and only addresses that DELIVERY_DENY and DELIVERY_ALLOW permit. */
  readonly domainProbe?: DomainProbe;
  /** Default: hashes passwords with the current cost. */
  readonly passwords?: Passwords;
  /** Default: downloads by HTTP from the addresses that webhooks may reach. */
  readonly pictureSource?: PictureSource;
  /** The addresses that webhooks of subscribers may have. Default: public addresses. */
  readonly subscriberGuard?: AddressGuard;
}
