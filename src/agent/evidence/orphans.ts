import { open, readdir, readFile } from 'node:fs/promises';
import { systemCodeOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { EVIDENCE_PROCESS_NAMES } from './evidence-process.ts';

const MARK = new RegExp(`^vedette-(?:${EVIDENCE_PROCESS_NAMES.join('|')}):(\\d+)(?:/|$)`);
/** Longer than the part of a command line that MARK matches; command lines can be megabytes. */
const MARK_BYTES = 64;

/**
 * Ends the processes that killed agents left, found by the names that `spawnEvidenceProcess` gives,
 * and returns their number. Does not touch the processes of a living agent, in this container or
 * another one. Does nothing without /proc.
 */
export async function endOrphans({ log }: { readonly log: Logger }): Promise<number> {
  let ended = 0;
  for (const pid of await processIds()) {
    if ((await agentOf(pid)) === null || !(await isOrphan(pid))) continue;
    try {
      process.kill(pid, 'SIGKILL');
      ended += 1;
    } catch (error) {
      if (systemCodeOf(error) === 'ESRCH') continue;
      log.warn({ pid, code: systemCodeOf(error) }, 'cannot end a process that a killed agent left');
    }
  }
  return ended;
}

async function processIds(): Promise<readonly number[]> {
  try {
    return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  } catch {
    return [];
  }
}

/**
 * A process belongs to the agent that its name contains as long as that is its parent. When the
 * agent ends, the kernel gives the process another parent, which was alive at that time and
 * therefore has another pid than any later process with the agent's pid. The facts are read twice,
 * so that they are about one process even if its pid was reused in between.
 */
async function isOrphan(pid: number): Promise<boolean> {
  const before = await factsOf(pid);
  if (before === null || before.isForeign) return false;
  const agentPid = await agentOf(pid);
  if (agentPid === null || before.parentPid === agentPid) return false;
  const after = await factsOf(pid);
  return after?.startedTicks === before.startedTicks && after.parentPid === before.parentPid;
}

/** The pid of the agent that started the process; null if it is none of our processes. */
async function agentOf(pid: number): Promise<number | null> {
  try {
    const file = await open(`/proc/${pid}/cmdline`);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MARK_BYTES), 0, MARK_BYTES, 0);
      const [name = ''] = buffer.toString('latin1', 0, bytesRead).split('\0');
      const agentPid = MARK.exec(name)?.[1];
      return agentPid === undefined ? null : Number(agentPid);
    } finally {
      await file.close();
    }
  } catch {
    return null; // It has ended, or may not be read.
  }
}

interface ProcessFacts {
  readonly parentPid: number;
  /** Clock ticks since the machine's boot. */
  readonly startedTicks: number;
  /** It is in another pid namespace (a container), where pids mean other processes. */
  readonly isForeign: boolean;
}

/** proc(5), /proc/pid/stat and /proc/pid/status. */
async function factsOf(pid: number): Promise<ProcessFacts | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    const status = await readFile(`/proc/${pid}/status`, 'latin1');
    // The second field is the program's name in brackets, which can contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const parentPid = Number(fields[1]);
    const startedTicks = Number(fields[19]);
    if (!Number.isSafeInteger(parentPid) || !Number.isSafeInteger(startedTicks)) return null;
    const pids = /^NSpid:\s*(.*)$/m.exec(status)?.[1]?.trim().split(/\s+/) ?? [];
    return { parentPid, startedTicks, isForeign: pids.length > 1 };
  } catch {
    return null;
  }
}
