import type { ArtifactStore } from './artifact-store.ts';

/** How many uploads and files were removed. */
export interface CleanUp {
  readonly uploads: number;
  /** Files of crashes that belong to no upload. */
  readonly leftovers: number;
}

/**
 * Drops every upload without a new part since `beforeMs` (wall clock), and leftovers of crashes. Safe
 * to run in several processes at once. Rejects as the store does.
 */
export async function cleanUpArtifacts(
  store: ArtifactStore,
  beforeMs: number,
  signal: AbortSignal,
): Promise<CleanUp> {
  let uploads = 0;
  for await (const abandoned of store.abandoned(beforeMs, signal)) {
    if (await store.discard(abandoned, signal)) uploads += 1;
  }
  return { uploads, leftovers: await store.sweep(beforeMs, signal) };
}
