import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** CPU times of the kernel, in milliseconds since some start; 0 if it does not report them. */
export interface CpuAccount {
  /** Pauses by CPU limits: the maximum of our cgroup and those above it. */
  readonly throttledMs: number;
  /** Time that the hypervisor gave to others, per CPU. */
  readonly stolenMs: number;
  /** Time that this process used. */
  readonly ownMs: number;
}

/** USER_HZ, in which /proc/stat counts, is 100 on every architecture of Node. */
const MS_PER_TICK = 10;

/** @param root the folder that contains proc and sys */
export function readCpuAccount(root = '/'): CpuAccount {
  const { user, system } = process.cpuUsage();
  const files = cpuStatFiles(root);
  return {
    throttledMs: Math.max(0, ...files.map((file) => throttledMsIn(textOf(file)))),
    stolenMs: stolenMsIn(textOf(join(root, 'proc/stat'))),
    ownMs: (user + system) / 1000,
  };
}

/**
 * cpu.stat of our cgroup and of all visible ones above it: cgroup v2, and the CPU controller of v1.
 */
function cpuStatFiles(root: string): readonly string[] {
  const mounts = textOf(join(root, 'proc/self/mountinfo')).split('\n').flatMap(mountOf);
  const lines = textOf(join(root, 'proc/self/cgroup')).split('\n');
  return lines.flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) return [];
    const mount = mounts.find((each) =>
      controllers === ''
        ? each.type === 'cgroup2'
        : each.type === 'cgroup' && hasCpu(controllers) && hasCpu(each.options),
    );
    if (mount === undefined) return [];
    const folder = join(root, mount.point);
    return pathAndAbove(withoutRoot(path, mount.root)).map((one) => join(folder, one, 'cpu.stat'));
  });
}

interface Mount {
  readonly root: string;
  readonly point: string;
  readonly type: string;
  /** Options of the file system, with the controllers of v1. */
  readonly options: string;
}

/** proc_pid_mountinfo(5): optional fields end with a hyphen. */
function mountOf(line: string): Mount[] {
  const [before = '', after = ''] = line.split(' - ');
  const [, , , root, point] = before.split(' ');
  const [type = '', , options = ''] = after.split(' ');
  return root === undefined || point === undefined ? [] : [{ root, point, type, options }];
}

function hasCpu(list: string): boolean {
  return list.split(',').includes('cpu');
}

/** In a container, the mount may show only a part of the tree. */
function withoutRoot(path: string, root: string): string {
  return root !== '/' && path.startsWith(root) ? path.slice(root.length) : path;
}

function pathAndAbove(path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '..');
  return [...parts.keys(), parts.length].map((count) => parts.slice(0, count).join('/'));
}

/** v2 counts microseconds, v1 nanoseconds. */
function throttledMsIn(text: string): number {
  const [, micros] = /^throttled_usec (\d+)$/m.exec(text) ?? [];
  if (micros !== undefined) return Number(micros) / 1e3;
  const [, nanos] = /^throttled_time (\d+)$/m.exec(text) ?? [];
  return nanos === undefined ? 0 : Number(nanos) / 1e6;
}

/** proc_stat(5): the eighth number of the first line, for all CPUs together. */
function stolenMsIn(text: string): number {
  const [, ...numbers] = text.split('\n', 1)[0]?.trim().split(/\s+/) ?? [];
  const cpus = text.split('\n').filter((line) => /^cpu\d/.test(line)).length;
  return (Number(numbers[7] ?? 0) * MS_PER_TICK) / Math.max(1, cpus);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
