import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, inject } from 'vitest';
import { newPostgresDatabase } from '../../support/database/databases.ts';
import { copyMigratedDatabase } from '../../support/database/new-database.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { type RunningService, startService } from '../../support/service/deployment.ts';

/** For a describe block: one service process for all of its tests. */
export function useServiceProcess(): () => RunningService {
  let service: RunningService | null = null;
  const ends: (() => Promise<void> | void)[] = [];
  beforeAll(async () => {
    const folder = makeTempFolder();
    ends.unshift(() => folder.remove());
    const isOnPostgres = inject('postgres') !== null;
    if (!isOnPostgres) copyMigratedDatabase(folder.path);
    service = await startService({
      dataDir: folder.path,
      ...(isOnPostgres ? { databaseUrl: await newPostgresDatabase('migrated') } : {}),
      env: { ENCRYPTION_KEY: randomBytes(32).toString('hex') },
      atEnd: (end) => ends.unshift(end),
    });
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => {
    if (service === null) throw new Error('the service is for tests: it starts before the first');
    return service;
  };
}
