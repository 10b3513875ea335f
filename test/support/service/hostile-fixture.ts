import { readdirSync } from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
import type { Role } from '../../../src/model/enums.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { apiRoutes } from '../../../src/service/api-routes.ts';
import type { Store } from '../../../src/service/database/store.ts';
import type { ArtifactStore } from '../../../src/service/object-store/artifact-store.ts';
import { openArtifactStore } from '../../../src/service/object-store/artifacts-config.ts';
import { type DatabaseKind, openMigratedStore } from '../database/databases.ts';
import { type Contents, contentsOf, idsOf, strayRows } from '../hostile/database-contents.ts';
import { createFullAccount, type FullAccount } from '../hostile/full-account.ts';
import { type Answer, openSender, type Sent, wrongIn } from '../hostile/request-sender.ts';
import { collectRoutes, type Route } from '../hostile/route-table.ts';
import { captureLog } from '../log-capture.ts';
import { makeTempFolder } from '../process/temp-folder.ts';
import { createSelfSigned } from '../servers/certificates.ts';
import { until } from './deployment.ts';
import { startServiceApp } from './service-app.ts';
import { testFeatures } from './service-features.ts';

/** A part of every text of the victim, and of no other account's texts. */
export const SECRET = 'zz_secret';

/** For one request: an endless wait shows a limit that does not belong to the key. */
const MAX_KEYS = 20;

const BULK = '/v1/checks/bulk';

/** The whole service with two accounts: a victim and an attacker. */
export interface HostileFixture {
  readonly store: Store;
  readonly contents: ArtifactStore;
  readonly routes: readonly Route[];
  readonly victim: FullAccount;
  /** The ids and slugs of the victim. */
  readonly victimIds: readonly string[];
  /** Two ids of the victim that belong together. */
  readonly victimPairs: readonly (readonly string[])[];
  /** A new account, so that its changes do not affect other tests. */
  newAttacker(): Promise<FullAccount>;
  /** Another key of the victim's account. */
  newKeyOfVictim(role: Role): Promise<string>;
  send(sent: Sent): Promise<Answer>;
  /** The faults of the response, as text after the request; empty if all is well. */
  judge(sent: Sent, answer: Answer): readonly string[];
  victimsRows(): Promise<Contents>;
  /** Other accounts' rows that refer to the victim's, as text. */
  strayRows(): Promise<readonly string[]>;
  /** Paths of the artifact files. */
  files(): readonly string[];
  /** Logged errors and Node's warnings. */
  errors(): readonly unknown[];
  /** Resolves when the service is idle. */
  settled(): Promise<void>;
}

/** For a describe block: one service and one victim for all of its tests. */
export function useHostileFixture(kind: DatabaseKind): () => HostileFixture {
  let fixture: HostileFixture | null = null;
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const store = await openMigratedStore(kind);
    ends.unshift(() => store.close());
    const logs = captureLog();
    const { log } = logs;
    const folder = makeTempFolder();
    ends.unshift(async () => folder.remove());
    const contents = await openArtifactStore(
      { s3: null, dataDir: folder.path },
      { clock: systemClock, log },
    );
    const { features, close } = await testFeatures(store, systemClock, {
      contents,
      log,
      config: { leaseMs: 1_000, retentionDays: 30, staticIpv6s: [] },
    });
    ends.unshift(close, () => contents.close());
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    ends.unshift(async () => void process.off('warning', onWarning));
    const stopping = new AbortController();
    const work = features.work(stopping.signal);
    ends.unshift(async () => {
      stopping.abort();
      await work;
    });
    const { plugin, routes } = collectRoutes();
    const app = await startServiceApp([plugin, ...apiRoutes(features, stopping.signal)], {
      store,
      clock: systemClock,
      log,
      authenticator: features.apiKeys,
      locationKeys: features.locationKeys,
      auditLog: features.auditLog,
      sessions: features.sessions.cache,
      serviceAddress: features.serviceAddress,
      config: { rateLimitPerMinute: 1_000_000, trustedProxies: [] },
    });
    ends.unshift(() => app.close());
    ends.unshift(async () => stopping.abort());
    const sender = openSender(app.port);
    ends.unshift(() => sender.close());
    const parts = { store, features, send: sender.send };
    const identity = await createSelfSigned();
    const victim = await createFullAccount(parts, identity, SECRET, 'victim');
    // On a busy machine they would expire during the walks, which would then find changed rows.
    await store.query("update one_off_runs set not_after = not_after + interval '1 day'");
    const secrets = [SECRET, ...keyLinesOf(victim.identity)];
    const attackersIdentity = await createSelfSigned();
    let attackers = 0;
    /** The first key of each account, and its current replacement. */
    const accounts = new Map<string, string>();
    const newest = new Map<string, string>();
    /** By key, since an account may make one bulk request at a time. */
    const bulk = new Map<string | null, Promise<unknown>>();
    const inTurn = async (sent: Sent): Promise<Answer> => {
      if (!sent.path.startsWith(BULK)) return send(sent);
      const answer = Promise.resolve(bulk.get(sent.key)).then(() => send(sent));
      bulk.set(
        sent.key,
        answer.catch(() => {}),
      );
      return answer;
    };
    const send = async (sent: Sent, tries = 1): Promise<Answer> => {
      const key = newest.get(sent.key ?? '') ?? sent.key;
      const answer = await sender.send({ ...sent, key });
      const accountId = accounts.get(sent.key ?? '');
      if (answer.status !== 429 || accountId === undefined || tries === MAX_KEYS) return answer;
      // Some routes have rate limits that soon exhaust a key.
      const made = await features.apiKeys.create(accountId, { name: 'another', role: 'admin' });
      newest.set(sent.key ?? '', made.key);
      return send(sent, tries + 1);
    };
    const settled = async (): Promise<void> => {
      await until(
        () =>
          store.query(
            `select 1 from location_changes
             union all select 1 from agents where lease_until < now() + interval '1 hour'
             union all select 1 from root_cause_analyses where state = 'PENDING'
             union all select 1 from alert_deliveries where finished_at is null`,
          ),
        (rows) => rows.length === 0,
      );
      // The service refreshes outdated states of checks once a minute, or when they are read.
      await until(
        async () => {
          for (const key of [victim.apiKey, ...accounts.keys()]) {
            const read = { method: 'GET', path: '/v1/check-statuses', key: newest.get(key) ?? key };
            await sender.send(read);
          }
          return store.query('select from check_statuses where state_version is null');
        },
        (rows) => rows.length === 0,
      );
    };
    await settled();
    ends.unshift(await keepSilences(store, victim.accountId));
    const groups = await idsOf(store, victim.accountId);
    const victimIds = [...new Set(groups.flat())];
    fixture = {
      store,
      contents,
      routes,
      victim,
      victimIds,
      victimPairs: pairsOf(groups),
      async newAttacker() {
        attackers += 1;
        const attacker = await createFullAccount(
          parts,
          attackersIdentity,
          'mallory',
          `mallory-${attackers}`,
        );
        accounts.set(attacker.apiKey, attacker.accountId);
        return attacker;
      },
      async newKeyOfVictim(role) {
        const made = await features.apiKeys.create(victim.accountId, { name: SECRET, role });
        return made.key;
      },
      send: inTurn,
      judge(sent, answer) {
        const wrong = [...wrongIn(sent, answer)];
        const answered = `${answer.text}${JSON.stringify(answer.headers)}`;
        if (secrets.some((secret) => answered.includes(secret))) {
          wrong.push(`shows data of the victim: ${answer.text}`);
        }
        const asked = `${sent.method} ${sent.path} ${String(sent.body ?? '').slice(0, 500)}`;
        return wrong.map((each) => `the answer to ${asked} ${each}`);
      },
      victimsRows: () => contentsOf(store, victim.accountId),
      strayRows: () => strayRows(store, victim.accountId),
      files: () => readdirSync(folder.path, { recursive: true }).map(String).sort(),
      errors: () => [
        ...logs.records().filter(({ level }) => level === 'error' || level === 'fatal'),
        ...warnings,
      ],
      settled,
    };
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => {
    if (fixture === null) throw new Error('the fixture is for tests: it comes before the first');
    return fixture;
  };
}

/**
 * The victim's location is silent and a channel of it fails. No other location becomes silent and no other
 * problem of monitoring is found while the tests compare what is stored: their agents poll once, with short leases. A location whose agent stays connected is left out: the
 * service would end its silence while the tests compare.
 *
 * @returns a function that ends it
 */
async function keepSilences(store: Store, accountId: string): Promise<() => Promise<void>> {
  await store.query(
    `insert into silent_locations (location_id, account_id, since, covered_until, handled_at)
     select l.id, l.account_id, now(), '2100-01-01', '2100-01-01' from private_locations l
     where l.account_id = $1 and not exists (
       select 1 from agents a where a.location_id = l.id and a.lease_until > now() + interval '1 hour')`,
    [accountId],
  );
  await store.query(
    `create function skip_row() returns trigger language plpgsql as 'begin return null; end'`,
  );
  await store.query(
    `create trigger none_becomes_silent before insert on silent_locations
       for each row execute function skip_row()`,
  );
  await store.query(
    `create trigger no_problem_is_found before insert on monitoring_problems
       for each row when (new.message <> 'It fails.') execute function skip_row()`,
  );
  await store.query('delete from monitoring_problems');
  await store.query(
    `insert into monitoring_problems (id, account_id, kind, subject_id, subject, message, since,
       seen_at, begun_at)
     select gen_random_uuid()::text, c.account_id, 'CHANNEL_FAILING', c.id::text,
       jsonb_build_object('kind', 'channel', 'id', c.id, 'type', c.type, 'name', 'A channel'),
       'It fails.', now(), '2100-01-01', now()
     from alert_channels c where c.account_id = $1::text order by c.id limit 1`,
    [accountId],
  );
  return async () => void (await store.query('drop function skip_row() cascade'));
}

/** Lines of the private key: each would reveal a part of it. */
function keyLinesOf({ key }: FullAccount['identity']): readonly string[] {
  return key.split('\n').filter((line) => line !== '' && !line.startsWith('-----'));
}

/**
 * Pairs of ids of the same row, each once, or one id with a number that other resources may share.
 */
function pairsOf(groups: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const pairs = groups.flatMap((ids) =>
    ids.flatMap((one) => [...ids, '1'].map((other) => [one, other])),
  );
  return [...new Map(pairs.map((pair) => [pair.join('\n'), pair])).values()];
}
