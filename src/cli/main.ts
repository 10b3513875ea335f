#!/usr/bin/env node
import { systemClock } from '../runtime/clock.ts';
import { runProgram } from './program.ts';
import type { Terminal } from './terminal.ts';

const { stdout, stderr, env } = process;
const terminal: Terminal = { stdout, stderr, env, signals: process, clock: systemClock };

// Whoever reads our output may go away at any time (`| head`); that is no fault of ours.
stdout.on('error', () => {});
stderr.on('error', () => {});

process.exitCode = await runProgram(process.argv.slice(2), terminal, (exitCode) =>
  process.exit(exitCode),
);
