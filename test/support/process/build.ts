import { execFileSync } from 'node:child_process';
import { onceARun } from '../once-a-run.ts';

/**
 * Compiles src to dist once before the tests: worker threads and the command line are tested in
 * compiled form, since Node 20 does not run TypeScript.
 */
export function setup(): void {
  onceARun('build', () => execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' }));
}
