import { readdirSync } from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { openArtifactStore } from '../../../src/service/artifacts/artifacts-config.ts';
import { apiRoutes } from '../../../src/service/http/api-routes.ts';
import { migrate } from '../../../src/service/store/migrate.ts';
import type { Store } from '../../../src/service/store/port.ts';
import { type DatabaseKind, openTestStore, removeSharedPostgres, silentLog } from '../databases.ts';
import { until } from '../deployment.ts';
import { type Contents, contentsOf, idsOf, strayRows } from '../hostile/contents.ts';
import { makeParty, type Party } from '../hostile/parties.ts';
import { collectRoutes, type Route } from '../hostile/route-table.ts';
import { type Answer, openSender, type Sent, wrongIn } from '../hostile/send.ts';
import { captureLog } from '../log-capture.ts';
import { startServiceApp } from '../service-app.ts';
import { testFeatures } from '../service-features.ts';
import { makeTempFolder } from '../temp-folder.ts';

/** In every text of the victim, and in nothing that anybody else sends. */
export const SECRET = 'zz_secret';

/** The whole service with two accounts: one that has something to lose, and one that wants it. */
export interface HostileWorld {
  readonly store: Store;
  readonly routes: readonly Route[];
  readonly victim: Party;
  /** By which something of the victim can be asked for. */
  readonly victimIds: readonly string[];
  /** Two of them that belong together. */
  readonly victimPairs: readonly (readonly string[])[];
  /** A new account: what it made of itself does not show in another test. */
  newAttacker(): Promise<Party>;
  send(sent: Sent): Promise<Answer>;
  /** The faults of the answer, in words with the request before them; none where all is well. */
  judge(sent: Sent, answer: Answer): readonly string[];
  victimsRows(): Promise<Contents>;
  /** Rows of others that name what is the victim's, in words. */
  strayRows(): Promise<readonly string[]>;
  /** Files of artifacts, by their paths. */
  files(): readonly string[];
  /** What was logged as an error, and what Node warned of. */
  errors(): readonly unknown[];
  /** Resolves when the service has nothing left to do of its own. */
  settled(): Promise<void>;
}

/** For a describe block: one service and one victim for all of its tests. */
export function useHostileWorld(kind: DatabaseKind): () => HostileWorld {
  let world: HostileWorld | null = null;
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const store = await openTestStore(kind);
    ends.unshift(() => store.close());
    await migrate(store, silentLog());
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
      config: { leaseMs: 1_000, retentionDays: 30 },
    });
    ends.unshift(close, () => contents.close());
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    ends.unshift(async () => void process.off('warning', onWarning));
    const stopping = new AbortController();
    const work = features.work(stopping.signal);
    ends.unshift(() => work);
    const { plugin, routes } = collectRoutes();
    const app = await startServiceApp([plugin, ...apiRoutes(features, stopping.signal)], {
      store,
      clock: systemClock,
      log,
      authenticator: features.apiKeys,
      locationKeys: features.locationKeys,
      config: { rateLimitPerMinute: 1_000_000, trustedProxies: [] },
    });
    ends.unshift(() => app.close());
    ends.unshift(async () => stopping.abort());
    const sender = openSender(app.port);
    ends.unshift(() => sender.close());
    const parts = { store, features, send: sender.send };
    const victim = await makeParty(parts, SECRET, 'victim');
    let attackers = 0;
    /** Whose first key it is, and the one that is used in its place by now. */
    const accounts = new Map<string, string>();
    const newest = new Map<string, string>();
    const send = async (sent: Sent): Promise<Answer> => {
      const key = newest.get(sent.key ?? '') ?? sent.key;
      const answer = await sender.send({ ...sent, key });
      const accountId = accounts.get(sent.key ?? '');
      if (answer.status !== 429 || accountId === undefined) return answer;
      // Some routes allow so few requests a minute that a key is soon used up.
      const made = await features.apiKeys.create(accountId, { name: 'another', role: 'admin' });
      newest.set(sent.key ?? '', made.key);
      return send(sent);
    };
    const settled = async (): Promise<void> => {
      await until(
        () =>
          store.query(
            `select 1 from location_changes
             union all select 1 from agents where lease_until is not null`,
          ),
        (rows) => rows.length === 0,
      );
    };
    await settled();
    const groups = await idsOf(store, victim.accountId);
    const victimIds = [...new Set(groups.flat())];
    world = {
      store,
      routes,
      victim,
      victimIds,
      victimPairs: groups.flatMap((ids) =>
        ids.flatMap((one) => [...ids, '1'].map((other) => [one, other])),
      ),
      async newAttacker() {
        attackers += 1;
        const attacker = await makeParty(parts, 'mallory', `mallory-${attackers}`);
        accounts.set(attacker.apiKey, attacker.accountId);
        return attacker;
      },
      send,
      judge(sent, answer) {
        const wrong = [...wrongIn(sent, answer)];
        if (`${answer.text}${JSON.stringify(answer.headers)}`.includes(SECRET)) {
          wrong.push(`tells of the victim: ${answer.text}`);
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
    await removeSharedPostgres();
  });
  return () => {
    if (world === null) throw new Error('the world is for tests: it comes before the first');
    return world;
  };
}
