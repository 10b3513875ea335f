import { join } from 'node:path';

/**
 * The command that starts the compiled program. Optimizing the embedded database's code takes half of the
 * CPU of a start, and a test's processes end before they get it back.
 */
export const COMPILED_PROGRAM: readonly string[] = [
  process.execPath,
  '--liftoff-only',
  join(import.meta.dirname, '../../../dist/cli/main.js'),
];
