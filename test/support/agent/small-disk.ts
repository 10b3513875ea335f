import { execFileSync } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemCodeOf } from '../../../src/runtime/errors.ts';
import { makeTempFolder } from '../process/temp-folder.ts';

/** A file system of the test's own, in memory, which can be full. It ends with the test. */
export interface SmallDisk {
  readonly path: string;
  /** Takes all the room that is left. */
  fill(): void;
  /** Gives it back. */
  empty(): void;
}

/** Root only. */
export function mountSmallDisk(mebibytes: number): SmallDisk {
  const { path, remove } = makeTempFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'vedette-test', path]);
  onTestFinished(() => {
    // A process that was killed may still be on its way out.
    execFileSync('umount', ['--lazy', path]);
    remove();
  });
  const filler = join(path, 'filler');
  return {
    path,
    fill() {
      // The last page of it, too.
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
