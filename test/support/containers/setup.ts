import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { ContainerHost, isUsed } from './container-host.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the images and containers of this run. */
    containersFolder: string;
  }
}

/**
 * Gives the system tests a folder for images, which the first test that needs them builds. Removes
 * it at the end with all remaining containers. If CONTAINERS_FOLDER names a folder, uses that one
 * and leaves it: for developers of these tests, who remove stale images themselves.
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
