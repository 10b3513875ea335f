import { readdirSync, readFileSync } from 'node:fs';
import type { EvidenceProcessName } from '../../../src/agent/evidence/evidence-process.ts';

/** The pids of the running processes that an agent with this pid has started for evidence. */
export function evidenceProcessesOf(
  agentPid: number,
  name: EvidenceProcessName,
): readonly number[] {
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
