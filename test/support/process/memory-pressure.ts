import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { endChild } from './end-child.ts';
import { makeTestFolder } from './test-folder.ts';

/** Path of cgroup v1's memory controller. */
const MEMORY_CGROUP = '/sys/fs/cgroup/memory';
const RECLAIM = 'memory.force_empty';

export const HAS_MEMORY_CGROUP = existsSync(join(MEMORY_CGROUP, 'memory.limit_in_bytes'));

export interface OwnMemory {
  /** The command that starts in the group, with a separate copy of Node's binary. */
  readonly node: readonly string[];
  /**
   * Reclaims the group's memory repeatedly until the test ends, so that the program is read from
   * the disk again and again. A permanent limit would stop the agent completely.
   */
  press(): void;
}

/** A memory group that can be reclaimed separately. Removed when the test ends. */
export function makeOwnMemory(): OwnMemory {
  const cgroup = join(MEMORY_CGROUP, `vedette-pressed-${process.pid}`);
  mkdirSync(cgroup);
  onTestFinished(() => rmdirSync(cgroup));
  const enter = 'echo $$ > "$0/cgroup.procs" && exec "$@"';
  return {
    node: ['sh', '-c', enter, cgroup, copyOfNode()],
    press() {
      const child = spawn('perl', ['-e', PRESS, join(cgroup, RECLAIM)], { stdio: 'ignore' });
      onTestFinished(() => endChild(child));
    },
  };
}

const PRESS = `for (;;) {
    open my $file, '>', $ARGV[0] or die;
    syswrite $file, '0';
    close $file;
    select undef, undef, undef, 0.2 + rand 2;
  }`;

/** The first reader of a file is charged for its memory, so the copy must not be in the cache. */
function copyOfNode(): string {
  const copy = join(makeTestFolder(), 'node');
  copyFileSync(process.execPath, copy);
  const drop = ['oflag=nocache', 'conv=notrunc,fdatasync', 'count=0'];
  execFileSync('dd', [`of=${copy}`, ...drop], { stdio: 'ignore' });
  return copy;
}
