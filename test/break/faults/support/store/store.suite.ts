import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DatabaseKind } from '../../../../support/database/databases.ts';
import { createSelfSigned } from '../../../../support/servers/certificates.ts';
import type { Scenario } from './cases.ts';
import { allOperations } from './operations.ts';
import { type Campaign, type Choice, tryFaults } from './plan.ts';
import {
  agentsScenario,
  runsScenario,
  silenceScenario,
  trialsScenario,
} from './scenarios-agents.ts';
import { alertsScenario, failuresScenario, remindersScenario } from './scenarios-alerts.ts';
import { crudScenarios, partsScenario } from './scenarios-crud.ts';
import { groupRunsScenario } from './scenarios-groups.ts';
import {
  acknowledgedScenario,
  dependentScenario,
  groupedScenario,
  problemScenario,
  repeatedScenario,
} from './scenarios-notices.ts';
import { artifactsScenario, heartbeatsScenario, startScenario } from './scenarios-rest.ts';
import { resultsScenario, rollUpsScenario } from './scenarios-results.ts';
import { usersScenario } from './scenarios-users.ts';
import { type FaultService, openFaultService } from './service.ts';

/** Set it to select the same faults again. */
export const SEED = Number(process.env.BREAK_SEED ?? randomInt(2 ** 31));
/** Only scenarios whose names contain it. */
const ONLY = process.env.BREAK_ONLY ?? '';
const LIMIT_MS = 1_200_000;
const MAX_NOT_HIT = 0.03;

const BESIDE_REQUESTS =
  'asked by the walk that encrypts stored credentials, which is made again, and by the command that decrypts them';

const FOR_PAGES = 'asked where a person looks at a page';
const BY_OPERATOR = 'asked by a command of an operator, in a process of its own';
const FOR_SCRAPES = 'asked while metrics are scraped, which no scenario does';
const FOLLOWED = 'asked for clients that follow events, which resume after a failure';
const BY_COOKIE = 'asked with a cookie, which the clients of the scenarios do not have';
const BY_OPERATOR_LINK = "asked for a link of the operator's command alone";
const FOR_THE_FIRST_USER = 'asked until there is a user, by one transaction';

const BY_READERS =
  'asked by readers of a status page, whose forms are not requests of an account: they send them again';
const TO_SUBSCRIBERS = 'asked for subscribers of a status page, whom no scenario has';

/** Called in the first run of a scenario and in no later one: it makes what then exists. */
const ONCE: ReadonlySet<string> = new Set(['query results/partitions.sql.ts ensure']);

/** Made by a loop only if no request was earlier, so perhaps not in every run. */
const PERHAPS: ReadonlySet<string> = new Set([
  'alerts/bundling/bundles.sql.ts releaseOrphans',
  'results/statuses/outdated-states.sql.ts lockOutdatedStates',
]);

/** Operations that no scenario reaches, with the reason. */
const WITH_KEY = 'asked only for requests with an Idempotency-Key, which no scenario sends';
const NOT_REACHED: Readonly<Record<string, string>> = {
  'account-removal/contents.sql.ts readContents': BY_OPERATOR,
  'account-removal/rows.sql.ts partitionsOf': BY_OPERATOR,
  'account-removal/rows.sql.ts removeRows': BY_OPERATOR,
  'account-removal/revoke-access.sql.ts deleteAccount': BY_OPERATOR,
  'account-removal/revoke-access.sql.ts revokeAccess': BY_OPERATOR,
  'accounts/overviews.sql.ts listOverviews': BY_OPERATOR,
  'accounts/sql.ts findAccountsByName': BY_OPERATOR,
  'artifacts/artifacts-of-account.sql.ts deleteOfContent': BY_OPERATOR,
  'artifacts/artifacts-of-account.sql.ts listContentsOf': BY_OPERATOR,
  'artifacts/artifacts-of-account.sql.ts sampleContentsOf': BY_OPERATOR,
  'state-counts/sql.ts countCheckStates': FOR_SCRAPES,
  'state-counts/sql.ts countLiveAgents': FOR_SCRAPES,
  'snippets/sql.ts lockSnippetsShared': 'asked for a check with a snippet, which no scenario saves',
  'analytics/summaries/sql.ts listReportedChecks': FOR_PAGES,
  'analytics/summaries/sql.ts sumUpRuns': FOR_PAGES,
  'alerts/recipients/sql.ts countRecipients': 'asked for a check with hundreds of channels',
  'certificates/sql.ts findChecksOfHosts': FOR_PAGES,
  'certificates/sql.ts listSeenCertificates': FOR_PAGES,
  'checks/variables/variable-uses.sql.ts findVariableUses': FOR_PAGES,
  'error-groups/occurrences.sql.ts findFailedRuns': FOR_PAGES,
  'private-locations/statuses.sql.ts findLocationStatus': FOR_PAGES,
  'private-locations/statuses.sql.ts listLocationStatuses': FOR_PAGES,
  'results/runs/sql.ts findAttempts': FOR_PAGES,
  'results/runs/sql.ts findLastPassingResult': FOR_PAGES,
  'results/runs/sql.ts listFinals': FOR_PAGES,
  'users/sql.ts findSoleMembers': 'asked by the link that `vedette up` prints',
  'accounts/sql.ts hasAccount': 'asked once, before the service is there',
  'accounts/sql.ts insertAccount': 'asked once, before the service is there',
  'accounts/sql.ts lockFirstAccount': 'asked once, before the service is there',
  'analytics/rollups/roll-up.sql.ts advanceBackfill': 'asked after an upgrade alone',
  'api-keys/sql.ts findActiveApiKeyByHash': 'asked once, before the service is there',
  'audit-log/sql.ts addFailedSignIns':
    'asked by a loop after a wrong password, which counts what it cannot store',
  'events/sql.ts isBeforeDeleted': FOLLOWED,
  'events/sql.ts latestPosition': FOLLOWED,
  'events/sql.ts listEvents': FOLLOWED,
  'events/sql.ts eventsAfter': FOLLOWED,
  'accounts/sql.ts countAccounts': 'asked once, before the service is there',
  'accounts/sql.ts findFirstAccount': FOR_THE_FIRST_USER,
  'sessions/sql.ts deleteSession': BY_COOKIE,
  'sessions/sql.ts deleteSessionsOf': BY_COOKIE,
  'sessions/sql.ts findActiveSessions': BY_COOKIE,
  'sessions/sql.ts listSessions': BY_COOKIE,
  'sessions/sql.ts touchSession': BY_COOKIE,
  'users/sql.ts findUser': BY_COOKIE,
  'users/sql.ts listAccountsOfUser': BY_COOKIE,
  'users/sql.ts updatePassword': BY_COOKIE,
  'oidc/sql.ts deleteIdentities': BY_COOKIE,
  'oidc/sql.ts findUserIdByIdentity': BY_COOKIE,
  'oidc/sql.ts insertIdentity': BY_COOKIE,
  'users/sql.ts putMembership': BY_COOKIE,
  'users/sql.ts removePassword': BY_COOKIE,
  'users/links.sql.ts deleteSetupLinks': FOR_THE_FIRST_USER,
  'users/links.sql.ts insertSetupLink': FOR_THE_FIRST_USER,
  'users/links.sql.ts isSetupLink': FOR_THE_FIRST_USER,
  'users/links.sql.ts deletePasswordLinks': BY_OPERATOR_LINK,
  'users/links.sql.ts findPasswordLink': BY_OPERATOR_LINK,
  'users/links.sql.ts insertPasswordLink': BY_OPERATOR_LINK,
  'users/sql.ts setPassword': BY_OPERATOR_LINK,
  'users/sql.ts hasUser': FOR_THE_FIRST_USER,
  'root-cause/claims.sql.ts dropPending': 'asked for a model of another company alone',
  'root-cause/claims.sql.ts releasePending': 'asked for a model of another company alone',
  'root-cause/claims.sql.ts useModelOnce': 'asked for a model of another company alone',
  'secrets/sealing.sql.ts countSealed': 'asked once, before the service is there',
  'secrets/sealing.sql.ts listSealedBy':
    'asked once, before the service is there, and only for secrets of other keys',
  'secrets/sealing.sql.ts isOtherReplicaConnected': BESIDE_REQUESTS,
  'secrets/sealing.sql.ts listCredentialChecks': BESIDE_REQUESTS,
  'secrets/sealing.sql.ts listCredentialKeys': BESIDE_REQUESTS,
  'secrets/sealing.sql.ts listProxyLocations': BESIDE_REQUESTS,
  'secrets/sealing.sql.ts listReplicas': BESIDE_REQUESTS,
  'secrets/sealing.sql.ts lockCheckCredentials': BESIDE_REQUESTS,
  'secrets/sealing.sql.ts putCheckCredentials': BESIDE_REQUESTS,
  'secrets/sealing.sql.ts putLocationProxy': BESIDE_REQUESTS,
  'idempotency/sql.ts completeRequest': WITH_KEY,
  'idempotency/sql.ts countRequests': WITH_KEY,
  'idempotency/sql.ts deleteRequest': WITH_KEY,
  'idempotency/sql.ts findRequest': WITH_KEY,
  'idempotency/sql.ts insertRequest': WITH_KEY,
  'status-pages/pictures/pictures.sql.ts expirePictures': 'asked to fetch unchanged pictures again',
  'status-pages/pictures/pictures.sql.ts findPicture': 'asked by readers of a page',
  'status-pages/pictures/pictures.sql.ts savePictureProblem':
    'asked where a picture cannot be fetched',
  'status-pages/subscriptions/sql.ts changeServicesOf': BY_READERS,
  'status-pages/subscriptions/sql.ts confirmSubscriber': BY_READERS,
  'status-pages/subscriptions/sql.ts deleteSubscriberByToken': BY_READERS,
  'status-pages/subscriptions/sql.ts findSubscriberByAddress': BY_READERS,
  'status-pages/subscriptions/sql.ts findSubscriberByToken': BY_READERS,
  'status-pages/subscriptions/sql.ts insertSubscriber': BY_READERS,
  'status-pages/subscriptions/sql.ts lockSubscribersOfPage': BY_READERS,
  'status-pages/subscriptions/sql.ts renewUnconfirmed': BY_READERS,
  'status-pages/subscriptions/throttle.sql.ts countRequest': BY_READERS,
  'status-pages/subscriptions/messages/deliveries.sql.ts insertConfirmation': BY_READERS,
  'status-pages/subscriptions/sql.ts deleteSubscriber': TO_SUBSCRIBERS,
  'status-pages/subscriptions/messages/subscriber-health.sql.ts recordArrival': TO_SUBSCRIBERS,
  'status-pages/subscriptions/messages/subscriber-health.sql.ts recordFailure': TO_SUBSCRIBERS,
  'status-pages/subscriptions/reseal.sql.ts resealSubscriber': TO_SUBSCRIBERS,
  'status-pages/subscriptions/messages/deliveries.sql.ts failWaitingMessages': TO_SUBSCRIBERS,
  'status-pages/subscriptions/messages/announcements.sql.ts advanceAnnouncement': TO_SUBSCRIBERS,
  'status-pages/subscriptions/messages/announcements.sql.ts insertDeliveriesOf': TO_SUBSCRIBERS,
  'status-pages/subscriptions/messages/announcements.sql.ts readAnnouncedUpdate': TO_SUBSCRIBERS,
  'results/statuses/outdated-states.sql.ts readLatestStates':
    'asked only where a statement takes longer than its limit',
  'results/intake/write-probe.sql.ts probeDatabaseDisk':
    'asked only where the disk of the database refuses results',
};
const NOT_REACHED_ON: Readonly<Record<DatabaseKind, readonly string[]>> = {
  pglite: [],
  postgres: ['analytics/rollups/rolled-up-runs.sql.ts hasMoreSingleRuns'],
};

const WORKLOADS: readonly Scenario[] = [
  resultsScenario,
  rollUpsScenario,
  alertsScenario,
  remindersScenario,
  failuresScenario,
  agentsScenario,
  runsScenario,
  groupRunsScenario,
  trialsScenario,
  silenceScenario,
  artifactsScenario,
  heartbeatsScenario,
  acknowledgedScenario,
  dependentScenario,
  groupedScenario,
  problemScenario,
  repeatedScenario,
  startScenario,
  partsScenario,
  usersScenario,
];

/**
 * The whole service, with its database failing at each call in each way.
 *
 * @param choose selects the faults
 */
export async function storeFaultSuite(kind: DatabaseKind, choose: Choice): Promise<void> {
  const identity = await createSelfSigned();
  const scenarios = [...WORKLOADS, ...crudScenarios(identity)].filter(({ name }) =>
    name.includes(ONLY),
  );
  describe(`a database that fails, on ${kind}, BREAK_SEED=${SEED}`, () => {
    let service: FaultService | null = null;
    const campaigns: Campaign[] = [];
    const beganMs = performance.now();
    beforeAll(async () => {
      service = await openFaultService(kind);
    }, 120_000);
    afterAll(async () => {
      await service?.close();
    });

    it.each(scenarios)('$name', { timeout: LIMIT_MS }, async (scenario) => {
      if (service === null) throw new Error('the service comes before the test');
      const failed = failedIn(campaigns);
      const campaign = await tryFaults(service, scenario, (faults) => choose(faults, failed));
      campaigns.push(campaign);
      expect(campaign.failures, `BREAK_SEED=${SEED}`).toEqual([]);
    });

    it.skipIf(ONLY !== '')('every store operation was called and failed', () => {
      const through = new Set(campaigns.flatMap((each) => [...each.through]));
      const all = allOperations();
      const missing = all.filter((operation) => !through.has(operation) && !PERHAPS.has(operation));
      const expected = new Set([...Object.keys(NOT_REACHED), ...NOT_REACHED_ON[kind]]);
      expect(new Set(missing)).toEqual(expected);
      const chosen = new Set(campaigns.flatMap((each) => [...each.chosen]));
      const hit = new Set(campaigns.flatMap((each) => [...each.hit]));
      const notHit = [...chosen].filter((name) => !hit.has(name));
      const operations = failedIn(campaigns);
      const never = notHit.map(operationIn).filter((operation) => !operations.has(operation));
      const mustBeHit = (operation: string): boolean =>
        !ONCE.has(operation) && !PERHAPS.has(operation.replace(/^\w+ /, ''));
      expect(never.filter(mustBeHit)).toEqual([]);
      // A loop's call may come one iteration later in the next run.
      expect(notHit.length, notHit.join(', ')).toBeLessThanOrEqual(chosen.size * MAX_NOT_HIT);
      const sum = (of: (each: Campaign) => number): number =>
        campaigns.reduce((total, each) => total + of(each), 0);
      const seconds = Math.round((performance.now() - beganMs) / 1000);
      process.stdout.write(
        `${kind}: ${all.length - missing.length} of ${all.length} functions of the store, ${sum(({ calls }) => calls)} calls, ${sum(
          ({ faults }) => faults,
        )} faults in ${sum(({ cases }) => cases)} cases, ${seconds} s, BREAK_SEED=${SEED}\n`,
      );
    });
  });
}

function failedIn(campaigns: readonly Campaign[]): ReadonlySet<string> {
  return new Set(campaigns.flatMap(({ hit }) => [...hit].map(operationIn)));
}

/** From `answer lost|commit checks/checks.ts put` the part after the kind. */
function operationIn(name: string): string {
  return name.slice(name.indexOf('|') + 1);
}
