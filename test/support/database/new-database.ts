import { cpSync } from 'node:fs';
import { inject } from 'vitest';
import { makeTestFolder } from '../process/test-folder.ts';
import { type DatabaseKind, newPostgresDatabase } from './databases.ts';

/**
 * A new database with the schema of this release, for service processes; removed when the test
 * ends, or an embedded one when `atEnd` calls what it gets.
 */
export async function newDatabase(
  kind: DatabaseKind,
  atEnd?: (end: () => Promise<void>) => void,
): Promise<{ readonly dataDir: string } | { readonly databaseUrl: string }> {
  if (kind === 'postgres') return { databaseUrl: await newPostgresDatabase('migrated') };
  const dataDir = makeTestFolder(atEnd);
  copyMigratedDatabase(dataDir);
  return { dataDir };
}

/** Copies a database without the schema into a DATA_DIR, because creating one takes seconds. */
export function copyEmptyDatabase(dataDir: string): void {
  cpSync(inject('pglite').emptyFolder, dataDir, { recursive: true });
}

/** Copies a database with the schema of this release into a DATA_DIR. */
export function copyMigratedDatabase(dataDir: string): void {
  cpSync(inject('pglite').migratedFolder, dataDir, { recursive: true });
}
