import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Upload } from '../../../src/service/object-store/port.ts';
import { endChild } from '../process/end-child.ts';

const DRIVER = fileURLToPath(new URL('./artifact-driver.mjs', import.meta.url));

/** The options of one store, by its kind. */
export type DrivenStore = { readonly s3: object } | { readonly localDisk: object };

export interface MemoryReport {
  /** Whether what was read was what was written. */
  readonly same: boolean;
  /** Of the objects and buffers of JavaScript. */
  readonly growthBytes: number;
  /** Of the process: native memory included, and what the collector has not given back yet. */
  readonly rssGrowthBytes: number;
}

/**
 * Uploads and reads an artifact in its own process, and returns how much more memory that held at
 * any time than after a small artifact. The collector is made to run every few megabytes, since
 * otherwise what nobody holds would be measured: the buffers that sockets read into are freed only
 * by a collection, and their bytes bring one about only at about 64 MB, however small the file.
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
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
}

/** A process that puts what it reads from its stdin as one part. */
export function startPartWriter(store: DrivenStore, upload: Upload, n: number): PartWriter {
  const key = JSON.stringify({ accountId: upload.accountId, uploadId: upload.uploadId });
  const child = spawn(process.execPath, [DRIVER, 'put', JSON.stringify(store), key, String(n)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // What was written when it was killed goes nowhere.
  child.stdin.on('error', () => {});
  return {
    child,
    kill: () => endChild(child),
  };
}
