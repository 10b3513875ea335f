import { readdirSync, readFileSync } from 'node:fs';
import type { OwnProcessName } from '../../../src/agent/evidence/own-process.ts';

/** The pids of the running processes that an agent with this pid has started for evidence. */
export function ownProcessesOf(agentPid: number, name: OwnProcessName): readonly number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => commandLineOf(pid).startsWith(`vedette-${name}:${agentPid}/`))
    .map(Number);
}

/** Empty if the process is gone. */
function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
