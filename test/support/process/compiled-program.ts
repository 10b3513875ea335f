import { join } from 'node:path';
import { UNOPTIMIZED_WASM } from './unoptimized-wasm.ts';

/** The command that starts the compiled program. */
export const COMPILED_PROGRAM: readonly string[] = [
  process.execPath,
  UNOPTIMIZED_WASM,
  join(import.meta.dirname, '../../../dist/cli/main.js'),
];
