#!/usr/bin/env node
import { loadSequentially } from '../runtime/load-sequentially.ts';
import type { Terminal } from './terminal.ts';

// The files of the agent and the service contain secrets, whatever the mode of their folder.
process.umask(0o077);
loadSequentially(import.meta.url, './program.js');
loadSequentially(import.meta.url, './standard-output.js');
const { systemClock } = await import('../runtime/clock.ts');
const { runProgram } = await import('./program.ts');
const { StandardOutput } = await import('./standard-output.ts');
const { stdout, stderr, env } = process;
const terminal: Terminal = {
  stdout,
  stderr,
  input: () => process.stdin,
  env,
  script: process.argv[1],
  signals: process,
  clock: systemClock,
};
const output = new StandardOutput(stdout, stderr);

const exitCode = await runProgram(process.argv.slice(2), terminal, (code) => process.exit(code));
process.exitCode = exitCode;
// Not awaited: if the reader of a pipe neither reads nor closes it, this never resolves.
void output.settle(exitCode).then((settled) => {
  process.exitCode = settled;
});
