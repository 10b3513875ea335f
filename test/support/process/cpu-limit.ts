import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CGROUPS = '/sys/fs/cgroup';
/** Path of cgroup v1's CPU controller. */
const V1 = join(CGROUPS, 'cpu');
const PERIOD_US = 100_000;

/** A CPU controller of this machine, and the settings of a group below it. */
interface Controller {
  readonly folder: string;
  readonly quotaOf: (percent: number) => Settings;
  readonly weightOf: (times: number) => Settings;
}

/** By file. */
type Settings = Readonly<Record<string, string>>;

function controllerOf(): Controller | null {
  if (existsSync(join(V1, 'cpu.cfs_quota_us'))) {
    return {
      folder: V1,
      quotaOf: (percent) => ({
        'cpu.cfs_period_us': String(PERIOD_US),
        'cpu.cfs_quota_us': String((percent * PERIOD_US) / 100),
      }),
      weightOf: (times) => ({ 'cpu.shares': String(times * 1024) }),
    };
  }
  const below = join(CGROUPS, 'cgroup.subtree_control');
  if (!existsSync(below) || !readFileSync(below, 'utf8').split(/\s/).includes('cpu')) return null;
  return {
    folder: CGROUPS,
    quotaOf: (percent) => ({ 'cpu.max': `${(percent * PERIOD_US) / 100} ${PERIOD_US}` }),
    weightOf: (times) => ({ 'cpu.weight': String(times * 100) }),
  };
}

/** Whether there is a CPU controller, of cgroup v1 or v2, below which groups can be made. */
export const HAS_CPU_CGROUP = controllerOf() !== null;

/** A group of processes that share CPU with each other, and as one with all the others. */
export interface CpuGroup {
  add(pid: number): void;
  /** Limits them together to this percentage of one CPU. */
  limit(percent: number): void;
  /** A multiple of the weight that a group has by default. */
  weigh(times: number): void;
  /** Without the group its processes go on as all the others. */
  remove(): void;
}

/** A group of this process. Root only. */
export function makeCpuGroup(pid: number): CpuGroup {
  const controller = controllerOf();
  if (controller === null) throw new Error('there is no CPU controller to make a group below');
  const folder = join(controller.folder, `vedette-cpu-${process.pid}-${pid}`);
  const set = (settings: Settings): void => {
    for (const [name, value] of Object.entries(settings)) writeFileSync(join(folder, name), value);
  };
  mkdirSync(folder);
  moveTo(folder, pid);
  return {
    add: (another) => moveTo(folder, another),
    limit: (percent) => set(controller.quotaOf(percent)),
    weigh: (times) => set(controller.weightOf(times)),
    remove() {
      const left = readFileSync(join(folder, PROCESSES), 'utf8').split('\n');
      for (const each of left.filter((line) => line !== '')) moveTo(controller.folder, each);
      rmdirSync(folder);
    },
  };
}

/**
 * Limits the process to this percentage of one CPU. The returned function removes the limit, even
 * after the process has ended. Root only.
 */
export function limitCpu(pid: number, percent: number): () => void {
  const group = makeCpuGroup(pid);
  group.limit(percent);
  return group.remove;
}

const PROCESSES = 'cgroup.procs';

function moveTo(folder: string, pid: number | string): void {
  writeFileSync(join(folder, PROCESSES), String(pid));
}
