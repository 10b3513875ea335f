import { readFileSync, writeFileSync } from 'node:fs';

/** Memory of a process, as the kernel counts it. Linux and root only. */
export interface MemoryWatch {
  /** The peak since the start of the watch, minus the value at its start. */
  peakGrowthBytes(): number;
}

export function watchMemory(pid: number): MemoryWatch {
  // proc(5): resets the peak.
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const startBytes = statusBytes(pid, 'VmRSS');
  return { peakGrowthBytes: () => statusBytes(pid, 'VmHWM') - startBytes };
}

function statusBytes(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1];
  if (kilobytes === undefined) throw new Error(`no ${field} in /proc/${pid}/status`);
  return Number(kilobytes) * 1024;
}
