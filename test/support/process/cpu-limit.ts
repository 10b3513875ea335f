import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CGROUPS = '/sys/fs/cgroup';
/** Path of cgroup v1's CPU controller. */
const V1 = join(CGROUPS, 'cpu');
const PERIOD_US = 100_000;

/** A CPU controller of this machine, and how to set the quota of a group below it. */
interface Controller {
  readonly folder: string;
  readonly settingsOf: (quotaUs: number) => Readonly<Record<string, string>>;
}

function controllerOf(): Controller | null {
  if (existsSync(join(V1, 'cpu.cfs_quota_us'))) {
    const settingsOf = (quotaUs: number) => ({
      'cpu.cfs_period_us': String(PERIOD_US),
      'cpu.cfs_quota_us': String(quotaUs),
    });
    return { folder: V1, settingsOf };
  }
  const below = join(CGROUPS, 'cgroup.subtree_control');
  if (!existsSync(below) || !readFileSync(below, 'utf8').split(/\s/).includes('cpu')) return null;
  const settingsOf = (quotaUs: number) => ({ 'cpu.max': `${quotaUs} ${PERIOD_US}` });
  return { folder: CGROUPS, settingsOf };
}

/** Whether there is a CPU controller, of cgroup v1 or v2, below which groups can be made. */
export const HAS_CPU_CGROUP = controllerOf() !== null;

/**
 * Limits the process to this percentage of one CPU. The returned function removes the limit, even
 * after the process has ended. Root only.
 */
export function limitCpu(pid: number, percent: number): () => void {
  const controller = controllerOf();
  if (controller === null) throw new Error('there is no CPU controller to make a group below');
  const folder = join(controller.folder, `vedette-limited-${process.pid}-${pid}`);
  mkdirSync(folder);
  const settings = controller.settingsOf((percent * PERIOD_US) / 100);
  for (const [name, value] of Object.entries(settings)) writeFileSync(join(folder, name), value);
  moveTo(folder, pid);
  return () => {
    if (existsSync(join('/proc', String(pid)))) moveTo(controller.folder, pid);
    rmdirSync(folder);
  };
}

function moveTo(folder: string, pid: number): void {
  writeFileSync(join(folder, 'cgroup.procs'), String(pid));
}
