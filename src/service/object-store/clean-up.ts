import type { ArtifactStore } from './port.ts';

/** How much there was, for the log and the metrics. */
export interface CleanUp {
  readonly uploads: number;
  /** Leftovers of crashes that belong to no upload. */
  readonly leftovers: number;
}

/**
 * Drops every upload in which nothing has come since `beforeMs` (wall clock), and what crashes
 * left. Several processes may do so at once. Rejects as the store does.
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
