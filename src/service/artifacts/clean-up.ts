import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { countText } from '../../runtime/text/count-text.ts';
import type { Sql, Store } from '../database/port.ts';
import { everyHour } from '../database/retention.ts';
import { cleanUpArtifacts } from '../object-store/clean-up.ts';
import type { ArtifactStore } from '../object-store/port.ts';
import { deleteOldArtifacts, isContentUsed, listOldArtifactContents } from './ages.sql.ts';
import { type ArtifactContent, lockArtifactContent } from './sql.ts';
import {
  deleteUnclaimedArtifacts,
  listUnclaimedArtifacts,
  noteArtifactResults,
  type UnclaimedArtifact,
} from './unclaimed.sql.ts';

export interface ArtifactCleanUpParts {
  readonly store: Store;
  readonly contents: ArtifactStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long artifacts are kept, in days of 24 hours. */
  readonly retentionDays: number;
}

/** An agent that was away so long begins again. */
const UPLOAD_SECONDS = 86_400;
/** An artifact may come before its result, but not that much. */
const RESULT_SECONDS = 86_400;
const CONTENTS_A_BATCH = 100;
const UNCLAIMED_A_BATCH = 500;
/** A content goes within a transaction, and a store that hangs must not hold that up for long. */
const REMOVAL_LIMIT_MS = 10_000;

/** What a pass took away, and what it could not. */
export interface ArtifactCleanUp {
  /** Past the retention. */
  readonly artifacts: number;
  /** Their result did not come in time. */
  readonly unclaimed: number;
  readonly uploads: number;
  readonly failed: number;
}

type Total = { -readonly [Field in keyof ArtifactCleanUp]: ArtifactCleanUp[Field] };

/**
 * One pass: what is past the retention, artifacts whose result did not come within a day, and
 * uploads in which nothing came for a day.
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
    const old = await listOldArtifactContents(parts.store, ages, CONTENTS_A_BATCH);
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
    // Those that failed come again in each batch; they are tried anew with the next pass.
    if (old.length < CONTENTS_A_BATCH || done === 0) return;
  }
}

/** Looks at each artifact without a result once: it is claimed for good, or goes. */
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
      limit: UNCLAIMED_A_BATCH,
    });
    const claimed = batch.flatMap(({ accountId, rowId, resultLocation: location }) =>
      location === null ? [] : [{ accountId, rowId, location }],
    );
    await noteArtifactResults(store, claimed);
    const unclaimed = batch.filter(({ resultLocation }) => resultLocation === null);
    for (const [content, rowIds] of byContent(unclaimed)) {
      if (signal.aborted) return;
      const gone = await removeOf(parts, content, total, signal, (tx) =>
        deleteUnclaimedArtifacts(tx, { ...content, rowIds }),
      );
      total.unclaimed += gone ?? 0;
    }
    const last = batch.at(-1);
    if (last === undefined || batch.length < UNCLAIMED_A_BATCH) return;
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
 * Deletes rows, and their content where nothing has it any more. The rows go only where the content
 * is gone: a crash between leaves rows without a content, which the next pass finds again, and no
 * content without a row, which nobody would find.
 *
 * @returns null where it failed, which is counted and logged
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

/** Removes old artifacts now and about every hour, until the signal aborts. Logs failures. */
export async function runArtifactCleanUp(
  {
    clock,
    log,
    cleanUp,
  }: Pick<ArtifactCleanUpParts, 'clock' | 'log'> & {
    readonly cleanUp: (signal: AbortSignal) => Promise<ArtifactCleanUp>;
  },
  signal: AbortSignal,
): Promise<void> {
  await everyHour(
    { clock, log },
    'old artifacts could not be removed',
    async () => {
      const { artifacts, unclaimed, uploads } = await cleanUp(signal);
      if (artifacts + unclaimed + uploads === 0) return;
      log.info(
        { artifacts, unclaimed, uploads },
        `removed artifacts: ${artifacts} past RETENTION_DAYS, ${unclaimed} whose result did not arrive within a day, and ${countText(uploads, 'upload')} without progress`,
      );
    },
    signal,
  );
}
