import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { countText } from '../../runtime/text/count-text.ts';
import { everyHour } from '../database/every-hour.ts';
import type { Sql, Store } from '../database/store.ts';
import type { ArtifactStore } from '../object-store/artifact-store.ts';
import { cleanUpArtifacts } from '../object-store/clean-up.ts';
import { deleteOldArtifacts, isContentUsed, listOldArtifactContents } from './ages.sql.ts';
import { type ArtifactContent, lockArtifactContent } from './sql.ts';
import {
  claimArtifacts,
  deleteUnclaimedArtifacts,
  listUnclaimedArtifacts,
  type UnclaimedArtifact,
} from './unclaimed.sql.ts';

export interface ArtifactCleanUpParts {
  readonly store: Store;
  readonly contents: ArtifactStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long artifacts are retained, in days of 24 hours. */
  readonly retentionDays: number;
}

/** An agent that was offline for longer begins its upload again. */
const UPLOAD_SECONDS = 86_400;
/** How long before its result an artifact may arrive. */
const RESULT_SECONDS = 86_400;
const CONTENTS_PER_BATCH = 100;
const UNCLAIMED_PER_BATCH = 500;
/** Bounds the transaction in which a content is removed when the artifact store hangs. */
const REMOVAL_LIMIT_MS = 10_000;

/** What a pass removed, and what it failed to remove. */
export interface ArtifactCleanUp {
  /** Artifacts past the retention. */
  readonly artifacts: number;
  /** Artifacts whose result did not arrive in time. */
  readonly unclaimed: number;
  readonly uploads: number;
  readonly failed: number;
}

type Total = { -readonly [Field in keyof ArtifactCleanUp]: ArtifactCleanUp[Field] };

/**
 * Removes, in one pass, artifacts past the retention, artifacts whose result did not arrive within a day,
 * and uploads without progress for a day.
 */
export async function cleanUpOnce(
  parts: ArtifactCleanUpParts,
  signal: AbortSignal,
): Promise<ArtifactCleanUp> {
  const { contents, clock } = parts;
  const total: Total = { artifacts: 0, unclaimed: 0, uploads: 0, failed: 0 };
  await removeAllOld(parts, total, signal);
  await removeUnclaimed(parts, total, signal);
  if (signal.aborted) return total;
  const beforeMs = clock.wallMs() - UPLOAD_SECONDS * 1000;
  await cleanUpArtifacts(contents, beforeMs, signal);
  return total;
}

async function removeAllOld(
  parts: ArtifactCleanUpParts,
  total: Total,
  signal: AbortSignal,
): Promise<void> {
  const ages = { retentionDays: parts.retentionDays, uploadSeconds: UPLOAD_SECONDS };
  for (;;) {
    const old = await listOldArtifactContents(parts.store, ages, CONTENTS_PER_BATCH);
    let done = 0;
    for (const content of old) {
      if (signal.aborted) return;
      for (let isPartial = true; isPartial; ) {
        const gone = await removeOf(parts, content, total, signal, (tx) =>
          deleteOldArtifacts(tx, { ...content, ...ages }),
        );
        total.artifacts += gone?.artifacts ?? 0;
        total.uploads += gone?.uploads ?? 0;
        if (gone?.isPartial === false) done += 1;
        isPartial = gone?.isPartial ?? false;
      }
    }
    // Each batch lists those that failed again; the next pass retries them.
    if (old.length < CONTENTS_PER_BATCH || done === 0) return;
  }
}

/** Visits each artifact without a known result once: marks it as permanently claimed, or removes it. */
async function removeUnclaimed(
  parts: ArtifactCleanUpParts,
  total: Total,
  signal: AbortSignal,
): Promise<void> {
  const { store } = parts;
  for (let after: UnclaimedArtifact | null = null; !signal.aborted; ) {
    const batch: readonly UnclaimedArtifact[] = await listUnclaimedArtifacts(store, {
      olderThanSeconds: RESULT_SECONDS,
      after,
      limit: UNCLAIMED_PER_BATCH,
    });
    const claimed = batch.flatMap(({ accountId, rowId, resultLocation: location }) =>
      location === null ? [] : [{ accountId, rowId, location }],
    );
    await claimArtifacts(store, claimed);
    const unclaimed = batch.filter(({ resultLocation }) => resultLocation === null);
    for (const [content, rowIds] of byContent(unclaimed)) {
      if (signal.aborted) return;
      const gone = await removeOf(parts, content, total, signal, (tx) =>
        deleteUnclaimedArtifacts(tx, { ...content, rowIds }),
      );
      total.unclaimed += gone ?? 0;
    }
    const last = batch.at(-1);
    if (last === undefined || batch.length < UNCLAIMED_PER_BATCH) return;
    after = last;
  }
}

function byContent(
  artifacts: readonly UnclaimedArtifact[],
): Iterable<readonly [ArtifactContent, readonly string[]]> {
  const groups = new Map<string, readonly [ArtifactContent, string[]]>();
  for (const { accountId, sha256, rowId } of artifacts) {
    const key = `${accountId}/${sha256}`;
    const group = groups.get(key) ?? ([{ accountId, sha256 }, []] as const);
    group[1].push(rowId);
    groups.set(key, group);
  }
  return groups.values();
}

/**
 * Deletes rows, and their content if no other row has it. The content is removed before the transaction
 * commits: a crash in between leaves rows without a content, which the next pass finds, but never a
 * content without a row, which nothing would find.
 *
 * @returns null after a failure, which is counted and logged
 */
async function removeOf<T>(
  { store, contents, clock, log }: ArtifactCleanUpParts,
  content: ArtifactContent,
  total: Total,
  signal: AbortSignal,
  deleteRows: (tx: Sql) => Promise<T>,
): Promise<T | null> {
  try {
    return await store.transaction(async (tx) => {
      await lockArtifactContent(tx, content);
      const gone = await deleteRows(tx);
      if (await isContentUsed(tx, content)) return gone;
      const limit = new AbortController();
      const cancel = clock.after(REMOVAL_LIMIT_MS, () =>
        limit.abort(new Error(`the artifact store took longer than ${REMOVAL_LIMIT_MS} ms`)),
      );
      try {
        await contents.remove(content, AbortSignal.any([signal, limit.signal]));
      } finally {
        cancel();
      }
      return gone;
    });
  } catch (error) {
    if (signal.aborted) return null;
    total.failed += 1;
    log.warn({ ...content }, `an artifact could not be removed: ${messageOf(error)}`);
    return null;
  }
}

/** A pass now and about every hour, until the signal aborts. Logs failures. */
export function runArtifactCleanUp(
  parts: Pick<ArtifactCleanUpParts, 'clock' | 'log'> & {
    readonly cleanUp: (signal: AbortSignal) => Promise<ArtifactCleanUp>;
  },
  signal: AbortSignal,
): Promise<void> {
  const work = async (): Promise<void> => {
    const removed = await parts.cleanUp(signal).catch((error: unknown) => {
      if (signal.aborted) return null;
      throw error;
    });
    if (removed === null) return;
    const { artifacts, unclaimed, uploads } = removed;
    if (artifacts + unclaimed + uploads === 0) return;
    parts.log.info(
      { artifacts, unclaimed, uploads },
      `removed artifacts: ${artifacts} past RETENTION_DAYS, ${unclaimed} whose result did not arrive within a day, and ${countText(uploads, 'upload')} without progress`,
    );
  };
  return everyHour(parts, 'old artifacts could not be removed', work, signal);
}
