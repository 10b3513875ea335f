import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The measured process has a core of its own; everything else shares another one, if there is one. */
export interface Cores {
  readonly measured: number;
  readonly others: number;
}

/** @throws Error if the kernel does not list the cores */
export function coresOf(): Cores {
  const allowed = allowedList()
    .split(',')
    .flatMap((range) => {
      const [first = Number.NaN, last = first] = range.split('-').map(Number);
      return [first, last];
    });
  const [measured, others] = [allowed[0] ?? Number.NaN, allowed.at(-1) ?? Number.NaN];
  if (Number.isNaN(measured + others)) throw new Error('there is no telling which cores there are');
  return { measured, others };
}

/** The prefix of a command that runs only on this core. */
export function onCore(core: number): readonly string[] {
  return ['taskset', '--cpu-list', String(core)];
}

/** Moves this process, and what it starts, to the core; the returned function moves it back. */
export function moveTo(core: number): () => void {
  const before = allowedList();
  const move = (list: string): unknown =>
    execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', list, String(process.pid)]);
  move(String(core));
  return () => void move(before);
}

/** For example `0-1`. */
function allowedList(): string {
  return /^Cpus_allowed_list:\s+(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
}
