import type { Store } from '../database/store.ts';
import type { ArtifactStore } from '../object-store/artifact-store.ts';
import { deleteOfContent, listContentsOf, sampleContentsOf } from './artifacts-of-account.sql.ts';
import { type ArtifactContent, lockArtifactContent } from './sql.ts';

interface Parts {
  readonly store: Store;
  /** null: only the rows are removed. */
  readonly contents: ArtifactStore | null;
}

/** Contents that are removed at once: most of the time a bucket is waited for. */
const CONTENTS_AT_ONCE = 4;
const CONTENTS_A_BATCH = 100;
const ROWS_AT_ONCE = 1_000;
/** Enough to tell a wrong folder or bucket from some lost contents. */
const SAMPLE = 5;

/**
 * Removes all artifacts and uploads of an account, with their contents. When it is interrupted, a
 * further call removes the rest.
 *
 * @param onRemoved gets how many rows of artifacts went
 * @returns how many rows it removed
 * @throws ArtifactError, StoreError where a content or a row cannot be removed
 */
export async function removeArtifactsOf(
  { store, contents }: Parts,
  accountId: string,
  onRemoved: (artifacts: number) => void,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (let after = ''; !signal.aborted; ) {
    const query = { accountId, after, limit: CONTENTS_A_BATCH };
    const batch = await listContentsOf(store, query);
    const rest = batch.values();
    const worker = async (): Promise<void> => {
      for (const sha256 of rest) {
        if (signal.aborted) return;
        const content = { accountId, sha256 };
        const rows = await removeContent({ store, contents }, content, onRemoved, signal);
        // Not in one expression: the others count meanwhile.
        removed += rows;
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: CONTENTS_AT_ONCE }, worker));
    const bad = ends.find((end) => end.status === 'rejected');
    if (bad !== undefined) throw bad.reason;
    const last = batch.at(-1);
    if (last === undefined || batch.length < CONTENTS_A_BATCH) break;
    after = last;
  }
  if (contents !== null && !signal.aborted) await discardUploads(contents, accountId, signal);
  return removed;
}

/** The content goes before its last rows: what a crash leaves has a row, by which it is found again. */
async function removeContent(
  { store, contents }: Parts,
  content: ArtifactContent,
  onRemoved: (artifacts: number) => void,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (let isPartial = true; isPartial && !signal.aborted; ) {
    const gone = await store.transaction(async (tx) => {
      await lockArtifactContent(tx, content);
      const rows = await deleteOfContent(tx, { ...content, limit: ROWS_AT_ONCE });
      if (!rows.isPartial) await contents?.remove(content, signal);
      return rows;
    });
    removed += gone.artifacts + gone.uploads;
    onRemoved(gone.artifacts);
    isPartial = gone.isPartial;
  }
  return removed;
}

/** Discards uploads of any age, also those that have no row. */
async function discardUploads(
  contents: ArtifactStore,
  accountId: string,
  signal: AbortSignal,
): Promise<void> {
  for await (const upload of contents.abandoned(Number.POSITIVE_INFINITY, signal)) {
    if (upload.accountId === accountId) await contents.discard(upload, signal);
  }
}

/**
 * Whether the account has artifacts, and the store none of some of their contents: probably it is not the
 * store of the service.
 *
 * @throws ArtifactError where the store cannot be reached
 */
export async function lacksContentsOf(
  { store, contents }: { readonly store: Store; readonly contents: ArtifactStore },
  accountId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const sample = await sampleContentsOf(store, { accountId, limit: SAMPLE });
  for (const sha256 of sample) {
    if ((await contents.stat({ accountId, sha256 }, signal)) !== null) return false;
  }
  return sample.length > 0;
}
