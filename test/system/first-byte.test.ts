import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import type { CheckResult } from '../../src/model/result.ts';
import { endChild } from '../support/end-child.ts';

const ROOT = join(import.meta.dirname, '../..');
const PERIOD_S = 10;
const OTHERS_A_SECOND = 500;
const HELD_CHECKS = 100;

function start(command: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, command, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => endChild(child));
  return child;
}

async function* linesOf(child: ChildProcess): AsyncGenerator<string> {
  if (child.stdout !== null) yield* createInterface({ input: child.stdout });
}

async function delayServer(): Promise<string> {
  const server = start(['test/support/delay-server.mjs']);
  for await (const port of linesOf(server)) return `http://127.0.0.1:${port}`;
  throw new Error('the server ended');
}

/** Checks of 10 seconds, so that a tenth of them runs each second. */
function checkFile(url: string): object {
  const every = { checkType: 'API', frequency: 0, frequencyOffset: PERIOD_S };
  const others = Array.from({ length: OTHERS_A_SECOND * PERIOD_S }, (_, n) => ({
    ...every,
    id: `other-${n}`,
    request: { url: `${url.replace('127.0.0.1', `127.0.1.${1 + (n % 4)}`)}/` },
  }));
  const held = Array.from({ length: HELD_CHECKS }, (_, n) => ({
    ...every,
    id: `held-${n}`,
    request: { url: `${url}/held` },
  }));
  return { checks: [...others, ...held] };
}

it('firstByte is within 2 ms of a known delay while 500 other checks a second run', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vedette-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'checks.json');
  writeFileSync(file, JSON.stringify(checkFile(await delayServer())));

  const agent = start(['dist/cli/main.js', 'agent'], {
    CHECKS_FILE: file,
    AGENT_HEALTH_PORT: '0',
    LOG_LEVEL: 'warn',
  });
  const errorsMs: number[] = [];
  let others = 0;
  let failures = 0;
  for await (const line of linesOf(agent)) {
    const result = JSON.parse(line) as CheckResult;
    if (result.hasFailures || result.hasErrors) failures += 1;
    const response = result.apiCheckResult?.response;
    const held = response?.headers['x-held-ms'];
    if (held === undefined) others += 1;
    else errorsMs.push((response?.timingPhases.firstByte ?? 0) - Number(held));
    if (errorsMs.length === 2 * HELD_CHECKS) break;
  }
  errorsMs.sort((one, other) => one - other);
  const at = (share: number): number => errorsMs[Math.floor(share * (errorsMs.length - 1))] ?? NaN;
  const figures = `median ${at(0.5).toFixed(3)} ms, p95 ${at(0.95).toFixed(3)} ms, worst ${at(1).toFixed(3)} ms`;
  console.info(`firstByte over the server's own delay beside ${others} other checks: ${figures}`);

  expect(failures).toBe(0);
  // Two periods ran, so the load was there.
  expect(others).toBeGreaterThan(1.5 * OTHERS_A_SECOND * PERIOD_S);
  expect(at(0)).toBeGreaterThanOrEqual(0);
  expect(at(0.5)).toBeLessThan(2);
}, 60_000);
