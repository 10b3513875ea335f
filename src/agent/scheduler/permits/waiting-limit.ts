import { totalmem } from 'node:os';
import { descriptorLimit } from '../../../runtime/process/descriptors.ts';

/** Reserved for the service, the health port (128), the spool, evidence and libraries. */
const OWN_DESCRIPTORS = 256;
/** A DNS lookup may query both address families at once. */
const DESCRIPTORS_EACH = 2;
/**
 * A run takes 50 KiB before the first byte, 100 KiB in a TLS handshake; the rest is for its body.
 */
const BYTES_EACH = 256 * 1024;
/** Share of the process's memory that waiting runs may take. */
const MEMORY_SHARE = 1 / 4;
/** Bounds the flood watch, which checks each run ten times a second. */
const MOST = 10_000;

export interface MachineLimits {
  /** Files and sockets that the process may have open; null if no limit is known. */
  readonly descriptors: number | null;
  /** The memory of the machine, or the container's limit if that is lower. */
  readonly memoryBytes: number;
}

/** How many runs may wait for their targets in addition to the working runs. */
export interface WaitingLimit {
  /** 0 or more. */
  readonly runs: number;
  /** How an operator can raise the limit. */
  readonly remedy: string;
}

export function machineLimits(): MachineLimits {
  // Without a limit: 0, undefined or a huge number, depending on the version of Node.
  const constrainedBytes = Number(process.constrainedMemory() ?? 0);
  const machineBytes = totalmem();
  const memoryBytes =
    constrainedBytes > 0 ? Math.min(constrainedBytes, machineBytes) : machineBytes;
  return { descriptors: descriptorLimit(), memoryBytes };
}

/** @param concurrency maximum number of working runs, whose descriptors are reserved first */
export function waitingLimit(
  concurrency: number,
  { descriptors, memoryBytes }: MachineLimits = machineLimits(),
): WaitingLimit {
  const free = (descriptors ?? Number.POSITIVE_INFINITY) - OWN_DESCRIPTORS;
  const byDescriptors = Math.max(0, Math.floor(free / DESCRIPTORS_EACH) - concurrency);
  const byMemory = Math.floor((memoryBytes * MEMORY_SHARE) / BYTES_EACH);
  const runs = Math.min(byDescriptors, byMemory, MOST);
  if (runs === MOST) return { runs, remedy: 'add an agent to the location' };
  const remedy =
    runs === byDescriptors
      ? `raise its limit of open files (ulimit -n), which is ${descriptors}`
      : `give it more memory than ${Math.floor(memoryBytes / 1024 ** 2)} MiB`;
  return { runs, remedy };
}
