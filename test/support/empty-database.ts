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
  copyEmptyDatabase(dataDir);
  return { dataDir };
}

/** Fills a DATA_DIR as the first start of a service does, which takes seconds, without its schema. */
export function copyEmptyDatabase(dataDir: string): void {
  cpSync(inject('pglite').emptyFolder, dataDir, { recursive: true });
}

/** As copyEmptyDatabase, with the schema of this release. */
export function copyMigratedDatabase(dataDir: string): void {
  cpSync(inject('pglite').migratedFolder, dataDir, { recursive: true });
}
