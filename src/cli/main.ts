#!/usr/bin/env node
import { systemClock } from '../runtime/clock.ts';
import { runProgram } from './program.ts';
import { StandardOutput } from './standard-output.ts';
import type { Terminal } from './terminal.ts';

// What the agent and the service keep on disk holds secrets, whoever made the folder and with what mode.
process.umask(0o077);
const { stdout, stderr, env } = process;
const terminal: Terminal = { stdout, stderr, env, signals: process, clock: systemClock };
const output = new StandardOutput(stdout, stderr);

const exitCode = await runProgram(process.argv.slice(2), terminal, (code) => process.exit(code));
process.exitCode = exitCode;
// Not waited for: where the reader of a pipe neither reads nor closes it, this never comes.
void output.settle(exitCode).then((settled) => {
  process.exitCode = settled;
});
