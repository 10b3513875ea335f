import type { Store } from '../database/store.ts';
import type { ArtifactStore } from '../object-store/artifact-store.ts';
import { deleteOfContent, listContentsOf, sampleContentsOf } from './artifacts-of-account.sql.ts';
import { type ArtifactContent, lockArtifactContent } from './sql.ts';

interface Parts {
  readonly store: Store;
  /** null: only the rows are removed. */
  readonly contents: ArtifactStore | null;
}

/** How many contents are removed concurrently: removing one mostly means waiting for the bucket. */
const CONTENTS_AT_ONCE = 4;
const CONTENTS_PER_BATCH = 100;
const ROWS_AT_ONCE = 1_000;
/** Enough to distinguish a wrong folder or bucket from a few lost contents. */
const SAMPLE = 5;

/**
 * Removes all artifacts and uploads of an account, with their contents. When it is interrupted, a
 * further call removes the rest.
 *
 * @param onRemoved called with the number of rows removed
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
    const query = { accountId, after, limit: CONTENTS_PER_BATCH };
    const batch = await listContentsOf(store, query);
    const rest = batch.values();
    const worker = async (): Promise<void> => {
      for (const sha256 of rest) {
        if (signal.aborted) return;
        const content = { accountId, sha256 };
        const rows = await removeContent({ store, contents }, content, onRemoved, signal);
        // Not `removed += await …`: concurrent removals would overwrite each other's counts.
        removed += rows;
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: CONTENTS_AT_ONCE }, worker));
    const bad = ends.find((end) => end.status === 'rejected');
    if (bad !== undefined) throw bad.reason;
    const last = batch.at(-1);
    if (last === undefined || batch.length < CONTENTS_PER_BATCH) break;
    after = last;
  }
  if (contents !== null && !signal.aborted) await discardUploads(contents, accountId, signal);
  return removed;
}

/** Removes the content before its last rows: after a crash, the next call finds it by the rows that are left. */
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

/** Discards uploads of any age, including those without a row. */
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
 * Whether the account has artifacts and the store has none of a sample of their contents: it is probably not
 * the store of the service.
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
