import { randomUUID } from 'node:crypto';
import { systemClock } from '../../../src/runtime/clock.ts';
import { insertAccount } from '../../../src/service/accounts/sql.ts';
import { migrate } from '../../../src/service/database/migrate.ts';
import { silentLog } from '../../support/database/silent-store.ts';
import { testFeatures } from '../../support/service/service-features.ts';
import { startDriver } from '../driver.ts';
import type { Measured, PartContext } from '../part.ts';
import { quantile } from '../row.ts';
import type { BenchDatabase } from './bench-database.ts';
import { withStore } from './create-resources.ts';
import { startService } from './service-process.ts';

/** As many as an account may have. */
const STREAMS_OF_ACCOUNT = 200;
const WARM_UPS = 3;

interface FollowedAccount {
  readonly accountId: string;
  readonly apiKey: string;
}

/** How long an event takes from its commit to the clients that follow its account. */
export async function measureEventStreams(
  database: BenchDatabase,
  streams: number,
  { short, rounds, progress, signal }: PartContext,
): Promise<readonly Measured[]> {
  progress(`${streams} event streams on ${database.name}`);
  const ofAccount = Math.min(streams, STREAMS_OF_ACCOUNT);
  const accounts = await createAccounts(database, streams / ofAccount);
  const service = await startService(database);
  try {
    const { databaseUrl } = database.config;
    const options = { origin: service.origin, databaseUrl, accounts, streams: ofAccount };
    const driver = await startDriver('event-streams', options, signal);
    try {
      await driver.ask({ commits: WARM_UPS });
      const [p50, p99]: [number[], number[]] = [[], []];
      for (let round = 1; round <= rounds; round += 1) {
        const tookMs = await driver.ask<readonly number[]>({ commits: short ? 3 : 30 });
        p50.push(quantile(tookMs, 0.5));
        p99.push(quantile(tookMs, 0.99));
        progress(`a stream has an event after ${Math.round(p50.at(-1) ?? 0)} ms`);
      }
      const what = `from the commit of an event to each of ${streams.toLocaleString('en')} streams (${database.name})`;
      return [
        { measure: `Service: ${what}, median`, values: p50, unit: 'ms' },
        { measure: `Service: ${what}, p99`, values: p99, unit: 'ms' },
      ];
    } finally {
      await driver.stop();
    }
  } finally {
    await service.stop();
  }
}

function createAccounts(
  database: BenchDatabase,
  count: number,
): Promise<readonly FollowedAccount[]> {
  return withStore(database, async (store) => {
    await migrate(store, silentLog());
    const { features, close } = await testFeatures(store, systemClock);
    try {
      const accounts: FollowedAccount[] = [];
      for (let made = 0; made < count; made += 1) {
        const accountId = randomUUID();
        await insertAccount(store, { id: accountId, name: 'bench', createdAtMs: Date.now() });
        const { key } = await features.apiKeys.create(accountId, { name: 'bench', role: 'read' });
        accounts.push({ accountId, apiKey: key });
      }
      return accounts;
    } finally {
      await close();
    }
  });
}
