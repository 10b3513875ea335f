import { cpSync } from 'node:fs';
import { inject } from 'vitest';
import { type DatabaseKind, sharedPostgres } from './databases.ts';
import { testFolder } from './deployment.ts';

/**
 * A new database in which nothing was made yet, for service processes. With `postgres`, call
 * removeSharedPostgres at the file's end.
 */
export async function emptyDatabase(
  kind: DatabaseKind,
): Promise<{ readonly dataDir: string } | { readonly databaseUrl: string }> {
  if (kind === 'postgres') return { databaseUrl: await (await sharedPostgres()).createDatabase() };
  const dataDir = testFolder();
  cpSync(inject('emptyPglite'), dataDir, { recursive: true });
  return { dataDir };
}
