import { readFileSync } from 'node:fs';
import { VedetteError } from '../errors.ts';

/** How many files and sockets the process may have open; null if that is unknown (not Linux) or unlimited. */
export function descriptorLimit(): number | null {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(readOwnLimits()) ?? [];
  return soft === undefined ? null : Number(soft);
}

/** @throws VedetteError of kind `environment` and code TOO_FEW_DESCRIPTORS */
export function requireDescriptors(needed: number, who: string): void {
  const limit = descriptorLimit();
  if (limit === null || limit >= needed) return;
  throw new VedetteError(
    'environment',
    'TOO_FEW_DESCRIPTORS',
    `this process may open ${limit} files and sockets at once, and ${who} needs ${needed}: raise the limit (ulimit -n ${needed} in a shell, LimitNOFILE= in a systemd unit, --ulimit nofile= of a container)`,
  );
}

function readOwnLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
