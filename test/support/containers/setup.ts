import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { ContainerHost, isUsed } from './host.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where images and containers of this run are. */
    containersFolder: string;
  }
}

/**
 * Gives the system tests a folder in which images are built once, when the first test wants them,
 * and removes it at the end, with all containers that are left. Where CONTAINERS_FOLDER names a
 * folder, that folder is used and stays: for people who work on these tests and remove what is stale themselves.
 */
export function setup(project: TestProject): () => Promise<void> {
  const kept = process.env.CONTAINERS_FOLDER;
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'vedette-containers-'));
  project.provide('containersFolder', folder);
  return async () => {
    if (isUsed(folder)) {
      const host = await ContainerHost.open(folder);
      await host.close();
    }
    if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  };
}
