import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second, whatever the machine. */
const TICK_MS = 10;

/** CPU time of a process with all its threads, milliseconds. */
export function cpuMsOf(pid: number): number {
  return statOf(pid)?.cpuMs ?? 0;
}

/** CPU time of a process and its children: a database server has one for each connection. */
export function cpuMsOfFamily(pid: number): number {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ own: Number(name), stat: statOf(Number(name)) }))
    .filter(({ own, stat }) => own === pid || stat?.parent === pid)
    .reduce((sum, { stat }) => sum + (stat?.cpuMs ?? 0), 0);
}

/** proc(5), /proc/pid/stat; null for a process that has ended. */
function statOf(pid: number): { readonly parent: number; readonly cpuMs: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [, parent, , , , , , , , , , user, system] = fields.map(Number);
    return { parent: parent ?? 0, cpuMs: ((user ?? 0) + (system ?? 0)) * TICK_MS };
  } catch {
    return null;
  }
}
