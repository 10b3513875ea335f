import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Upload } from '../../../src/service/object-store/artifact-store.ts';
import { endChild } from '../process/end-child.ts';

const DRIVER = fileURLToPath(new URL('./artifact-driver.mjs', import.meta.url));

/** The options of one store, by its kind. */
export type DrivenStore = { readonly s3: object } | { readonly localDisk: object };

export interface MemoryReport {
  /** Whether the content read equals the content written. */
  readonly same: boolean;
  /** JavaScript objects and buffers. */
  readonly growthBytes: number;
  /**
   * The whole process: includes native memory and memory that the collector has not returned yet.
   */
  readonly rssGrowthBytes: number;
}

/**
 * Uploads and reads an artifact in its own process. Returns the difference of its peak memory to
 * that of a small artifact. Forces a garbage collection every few megabytes: socket read buffers
 * are freed only by a collection, and they trigger one only at about 64 MB, however small the file.
 */
export async function measureMemory(store: DrivenStore, bytes: number): Promise<MemoryReport> {
  const task = [DRIVER, 'memory', JSON.stringify(store), String(bytes)];
  const child = spawn(process.execPath, ['--expose-gc', ...task], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (output === '') throw new Error(`the driver failed: ${errors}`);
  return JSON.parse(output);
}

export interface PartWriter {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  /** Kills it with SIGKILL. */
  kill(): Promise<void>;
}

/** A process that puts its stdin as one part. */
export function startPartWriter(store: DrivenStore, upload: Upload, n: number): PartWriter {
  const key = JSON.stringify({ accountId: upload.accountId, uploadId: upload.uploadId });
  const child = spawn(process.execPath, [DRIVER, 'put', JSON.stringify(store), key, String(n)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // Ignore data written after the kill.
  child.stdin.on('error', () => {});
  return {
    child,
    kill: () => endChild(child),
  };
}
