import { terminalSafe } from './terminal-safe.ts';

/** A path as one word of a shell. */
export function shellWord(path: string): string {
  const safe = terminalSafe(path);
  return /^[\w./-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", "'\\''")}'`;
}
