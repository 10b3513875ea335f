import type { Readable } from 'node:stream';
import { findCheck } from '../checks/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import { notFound } from '../errors.ts';
import type { ArtifactLimits } from '../object-store/artifacts-config.ts';
import type { ByteRange } from '../object-store/byte-range.ts';
import {
  type ArtifactCleanUp,
  type ArtifactCleanUpParts,
  cleanUpOnce,
  runArtifactCleanUp,
} from './clean-up.ts';
import { withServiceErrors } from './error-responses.ts';
import { createArtifactQuota, type LimitOf } from './quota.ts';
import { type Artifact, findArtifact, listArtifacts } from './sql.ts';
import { type ArtifactUploads, createArtifactUploads } from './uploads.ts';

export type { Artifact } from './sql.ts';

export interface ArtifactsParts extends ArtifactCleanUpParts {
  readonly limits: ArtifactLimits;
}

/** An artifact's bytes `first` to `last`, both inclusive. The caller ends the stream. */
export interface OpenArtifact {
  readonly artifact: Artifact;
  readonly first: number;
  readonly last: number;
  readonly stream: Readable;
}

/** Counts of what this process refused or removed. */
export interface ArtifactCounts {
  /** Uploads over a limit, by whose limit it was. */
  readonly refused: Readonly<Record<LimitOf, number>>;
  /** Removed artifacts whose result did not arrive within a day. */
  readonly unclaimed: number;
}

/**
 * Files that agents upload to results: captures, reports, whole bodies. Users see an artifact once a
 * result of the location that uploaded it is stored.
 */
export interface Artifacts extends ArtifactUploads {
  /** By name. */
  list(accountId: string, checkId: string, resultId: string): Promise<readonly Artifact[]>;
  read(key: AccountKey): Promise<Artifact>;
  /** @throws ServiceError 404, or 416 where no byte of the range exists */
  open(key: AccountKey, range: ByteRange | null, signal: AbortSignal): Promise<OpenArtifact>;
  counts(): ArtifactCounts;
  /** One clean-up. */
  cleanUp(signal: AbortSignal): Promise<ArtifactCleanUp>;
  /** Cleans up about every hour, until the signal aborts. */
  maintain(signal: AbortSignal): Promise<void>;
}

export function createArtifacts(parts: ArtifactsParts): Artifacts {
  const { store, contents, log } = parts;
  const quota = createArtifactQuota(parts);
  let unclaimed = 0;

  async function cleanUp(signal: AbortSignal): Promise<ArtifactCleanUp> {
    const removed = await cleanUpOnce(parts, signal);
    unclaimed += removed.unclaimed;
    quota.removed();
    return removed;
  }

  return {
    ...createArtifactUploads({ ...parts, quota }),

    async list(accountId, checkId, resultId) {
      if ((await findCheck(store, { accountId, id: checkId })) === null) throw notFound('check');
      return listArtifacts(store, { accountId, checkId, resultId });
    },

    read,

    async open({ accountId, id }, range, signal) {
      const artifact = await read({ accountId, id });
      const { sha256 } = artifact;
      const opened = await withServiceErrors(contents.open({ accountId, sha256 }, range, signal));
      const { first, last, stream } = opened;
      stream.on('error', (error) => {
        if (!signal.aborted)
          log.warn({ err: error, artifactId: id }, 'an artifact was not sent completely');
      });
      return { artifact, first, last, stream };
    },

    counts: () => ({ refused: quota.refused, unclaimed }),
    cleanUp,
    maintain: (signal) => runArtifactCleanUp({ ...parts, cleanUp }, signal),
  };

  async function read(key: AccountKey): Promise<Artifact> {
    const artifact = await findArtifact(store, key);
    if (artifact === null) throw notFound('artifact');
    return artifact;
  }
}
