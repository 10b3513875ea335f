import { cpSync } from 'node:fs';
import { inject } from 'vitest';
import { type DatabaseKind, newPostgresDatabase } from './databases.ts';
import { testFolder } from './deployment.ts';

/** A new database in which nothing was made yet, for service processes. */
export async function emptyDatabase(
  kind: DatabaseKind,
): Promise<{ readonly dataDir: string } | { readonly databaseUrl: string }> {
  if (kind === 'postgres') return { databaseUrl: await newPostgresDatabase('empty') };
  const dataDir = testFolder();
  cpSync(inject('pglite').emptyFolder, dataDir, { recursive: true });
  return { dataDir };
}
