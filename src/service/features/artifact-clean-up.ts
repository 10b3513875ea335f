import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { sleep } from '../../runtime/wait.ts';
import { cleanUpArtifacts } from '../artifacts/clean-up.ts';
import type { ArtifactStore } from '../artifacts/port.ts';
import {
  type ArtifactAges,
  type DeletedArtifacts,
  deleteOldArtifacts,
  listOldArtifactContents,
} from '../store/artifact-ages.ts';
import {
  type ArtifactContent,
  lockArtifactContent,
  noteArtifactResults,
} from '../store/artifacts.ts';
import type { Store } from '../store/port.ts';

export interface ArtifactCleanUpParts {
  readonly store: Store;
  readonly contents: ArtifactStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long artifacts are kept, in days of 24 hours. */
  readonly retentionDays: number;
}

const HOUR_MS = 3_600_000;
/** An agent that was away so long begins again. */
const UPLOAD_SECONDS = 86_400;
/** Results may come later than their artifacts. One that an agent still has after a day is not sent. */
const RESULT_SECONDS = 86_400;
const CONTENTS_A_BATCH = 100;
const RESULTS_A_BATCH = 1_000;
/** A content goes within a transaction, and a store that hangs must not hold that up for long. */
const REMOVAL_LIMIT_MS = 10_000;

/** What a pass took away, and what it could not. */
export interface ArtifactCleanUp extends DeletedArtifacts {
  readonly failed: number;
}

/**
 * One pass: what is past the retention, artifacts whose result did not come within a day, and
 * uploads in which nothing came for a day.
 */
export async function cleanUpOnce(
  parts: ArtifactCleanUpParts,
  signal: AbortSignal,
): Promise<ArtifactCleanUp> {
  const { store, contents, clock } = parts;
  const ages = {
    retentionDays: parts.retentionDays,
    resultSeconds: RESULT_SECONDS,
    uploadSeconds: UPLOAD_SECONDS,
  };
  const total = { artifacts: 0, unclaimed: 0, uploads: 0, failed: 0 };
  await noteResults(store, signal);
  for (;;) {
    const old = await listOldArtifactContents(store, ages, CONTENTS_A_BATCH);
    let done = 0;
    for (const content of old) {
      if (signal.aborted) return total;
      try {
        const gone = await removeOld(parts, { ...content, ...ages }, signal);
        total.artifacts += gone.artifacts;
        total.unclaimed += gone.unclaimed;
        total.uploads += gone.uploads;
        done += 1;
      } catch (error) {
        if (signal.aborted) return total;
        total.failed += 1;
        parts.log.warn({ ...content }, `an artifact could not be removed: ${messageOf(error)}`);
      }
    }
    // Those that failed come again in each batch; they are tried anew with the next pass.
    if (old.length < CONTENTS_A_BATCH || done === 0) break;
  }
  const beforeMs = clock.wallMs() - UPLOAD_SECONDS * 1000;
  await cleanUpArtifacts(contents, beforeMs, signal);
  return total;
}

/** So that each artifact is looked at once, and stays when its result goes before it. */
async function noteResults(store: Store, signal: AbortSignal): Promise<void> {
  const batch = { olderThanSeconds: RESULT_SECONDS, limit: RESULTS_A_BATCH };
  for (let noted = RESULTS_A_BATCH; noted === RESULTS_A_BATCH && !signal.aborted; ) {
    noted = await noteArtifactResults(store, batch);
  }
}

/**
 * The rows go only where the content is gone: a crash between leaves rows without a content, which
 * the next pass finds again, and no content without a row, which nobody would find.
 */
async function removeOld(
  { store, contents, clock }: ArtifactCleanUpParts,
  old: ArtifactContent & ArtifactAges,
  signal: AbortSignal,
): Promise<DeletedArtifacts> {
  return store.transaction(async (tx) => {
    await lockArtifactContent(tx, old);
    const gone = await deleteOldArtifacts(tx, old);
    if (gone.isUsed) return gone;
    const limit = new AbortController();
    const cancel = clock.after(REMOVAL_LIMIT_MS, () =>
      limit.abort(new Error(`the artifact store took longer than ${REMOVAL_LIMIT_MS} ms`)),
    );
    try {
      await contents.remove(old, AbortSignal.any([signal, limit.signal]));
    } finally {
      cancel();
    }
    return gone;
  });
}

/** A pass now and then every hour or so, until the signal aborts. Logs what fails. */
export async function keepCleanedUp(
  {
    clock,
    log,
    cleanUp,
  }: Pick<ArtifactCleanUpParts, 'clock' | 'log'> & {
    readonly cleanUp: (signal: AbortSignal) => Promise<ArtifactCleanUp>;
  },
  signal: AbortSignal,
): Promise<void> {
  do {
    try {
      const { artifacts, unclaimed, uploads } = await cleanUp(signal);
      if (artifacts + unclaimed + uploads > 0) {
        log.info(
          { artifacts, unclaimed, uploads },
          `artifacts are removed: ${artifacts} past RETENTION_DAYS, ${unclaimed} whose result did not come within a day, and ${uploads} uploads that stood still`,
        );
      }
    } catch (error) {
      if (!signal.aborted) log.warn(`old artifacts could not be removed: ${messageOf(error)}`);
    }
    // Replicas that were started together need not come together each time.
  } while (await sleep(clock, HOUR_MS * (0.5 + Math.random() / 2), signal));
}
