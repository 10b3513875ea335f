import { DAY_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type FileSystem, systemFiles } from '../../runtime/files/file-system.ts';
import type { Logger } from '../../runtime/logger.ts';
import { DiskSpool } from './disk/disk-spool.ts';
import { DEFAULT_MAX_MEMORY_BYTES } from './disk/pending-writes.ts';
import { MemorySpool } from './memory-spool.ts';
import type { Spool, SpoolDropped, SpoolLost } from './spool.ts';

export interface SpoolOptions {
  /** DATA_DIR; null keeps everything in memory. */
  readonly dataDir: string | null;
  /** Bytes of all spool files. Default: 512 MiB; minimum: 512 KiB. */
  readonly maxBytes?: number;
  /** Default: 7 days. */
  readonly maxAgeMs?: number;
  /** Bytes that may wait in memory, for the disk or without a folder. Default: 64 MiB. */
  readonly maxMemoryBytes?: number;
  /** How long a record may wait for others to be written with it, milliseconds. Default: 25. */
  readonly commitDelayMs?: number;
}

export interface SpoolParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly onDropped: SpoolDropped;
  readonly onLost: SpoolLost;
  /** The disk of DATA_DIR. Default: the machine's. */
  readonly disk?: FileSystem;
}

const MIB = 1024 * 1024;
const MIN_BYTES = MIB / 2;

/**
 * Opens the agent's queue of results: in DATA_DIR/spool, or without DATA_DIR in memory, with a
 * warning in the log.
 *
 * @throws VedetteError of kind `config` and code DATA_DIR_UNUSABLE if the folder cannot be created,
 *   written or read, of kind `environment` and code DATA_DIR_IN_USE if another agent has it
 */
export async function openSpool(
  options: SpoolOptions,
  { disk = systemFiles, ...deps }: SpoolParts,
): Promise<Spool> {
  const { dataDir, maxBytes = 512 * MIB, maxAgeMs = 7 * DAY_MS } = options;
  const { maxMemoryBytes = DEFAULT_MAX_MEMORY_BYTES, commitDelayMs = 25 } = options;
  if (dataDir === null) {
    deps.log.warn(
      { maxMemoryBytes },
      'DATA_DIR is not set: results that wait for the service are kept in memory, and lost when the agent ends',
    );
    return new MemorySpool({ ...deps, maxBytes: maxMemoryBytes, maxAgeMs });
  }
  return DiskSpool.open({
    ...deps,
    dataDir,
    disk,
    maxBytes: Math.max(maxBytes, MIN_BYTES),
    maxAgeMs,
    maxMemoryBytes,
    commitDelayMs,
  });
}
