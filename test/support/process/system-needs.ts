import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/**
 * The missing requirements of a system test, as words for its title; null if it has all. In CI no
 * suite may skip itself. @throws Error in CI if something is missing
 */
export function lacking(needs: {
  readonly commands: readonly string[];
  readonly files: readonly string[];
}): string | null {
  const missing = [
    ...(process.platform === 'linux' ? [] : ['Linux']),
    ...(process.getuid?.() === 0 ? [] : ['root']),
    ...needs.commands.filter((command) => !hasCommand(command)),
    ...needs.files.filter((file) => !existsSync(file)),
  ];
  if (missing.length === 0) return null;
  const words = missing.join(', ');
  if (process.env.CI === 'true') throw new Error(`the system tests lack: ${words}`);
  return words;
}

function hasCommand(command: string): boolean {
  try {
    execFileSync('which', [command], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
