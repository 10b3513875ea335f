import { execFileSync } from 'node:child_process';
import { onceARun } from '../once-a-run.ts';

/**
 * Compiles src to dist once before the tests: worker threads and the command line are tested as
 * they are shipped, since Node 20 runs no TypeScript.
 */
export function setup(): void {
  onceARun('build', () => execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' }));
}
