import { execFileSync } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemCodeOf } from '../../../src/runtime/errors.ts';
import { makeTempFolder } from '../process/temp-folder.ts';

/** A file system in memory that can be filled. Removed when the test ends. */
export interface SmallDisk {
  readonly path: string;
  /** Fills the disk. */
  fill(): void;
  /** Frees the space. */
  empty(): void;
}

/** Root only. */
export function mountSmallDisk(mebibytes: number): SmallDisk {
  const { path, remove } = makeTempFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'vedette-test', path]);
  onTestFinished(() => {
    // A killed process may still be ending.
    execFileSync('umount', ['--lazy', path]);
    remove();
  });
  const filler = join(path, 'filler');
  return {
    path,
    fill() {
      // Fill the last page as well.
      for (const bytes of [1024 * 1024, 4096]) appendUntilFull(filler, Buffer.alloc(bytes));
    },
    empty: () => rmSync(filler),
  };
}

function appendUntilFull(file: string, bytes: Uint8Array): void {
  try {
    for (;;) appendFileSync(file, bytes);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOSPC') throw error;
  }
}
