import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** What is measured has a core to itself; all else shares another, where the machine has one. */
export interface Cores {
  readonly measured: number;
  readonly others: number;
}

/** @throws Error where the kernel does not say which there are */
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

/** Goes before the command of what is to run on this core alone. */
export function onCore(core: number): readonly string[] {
  return ['taskset', '--cpu-list', String(core)];
}

/** Puts this very process on the core, and with it what it starts; the function returned takes it back. */
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
