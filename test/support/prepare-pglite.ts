import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { systemClock } from '../../src/runtime/clock.ts';
import { openStore } from '../../src/service/store/open-store.ts';
import { onceARun } from './once-a-run.ts';
import { silentLog, storeConfig } from './silent-store.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of an embedded database in which nothing was made yet. */
    emptyPglite: string;
  }
}

/**
 * Makes an empty embedded database once, which tests copy: making one takes seconds, opening a copy
 * tenths of one.
 */
export async function setup(project: TestProject): Promise<() => void> {
  const folder = await onceARun('empty PGlite', makeEmpty);
  project.provide('emptyPglite', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}

async function makeEmpty(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'vedette-pglite-'));
  const config = storeConfig({ dataDir: folder });
  const store = await openStore(config, { clock: systemClock, log: silentLog() });
  await store.close();
  return folder;
}
