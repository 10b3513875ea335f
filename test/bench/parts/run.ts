import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { startDriver } from '../driver.ts';
import type { Measured, Part, Target } from '../part.ts';
import { median } from '../row.ts';
import { runToEnd } from '../support/child-process.ts';

const MAIN = join(import.meta.dirname, '../../../dist/cli/main.js');
const CHECKS = 80;
const HELD_MS = 200;
/** The time over which `vedette run` spreads the starts of so many checks. */
const SPREAD_MS = 200;
const MIN_ROUNDS = 5;

/** How exactly `vedette run` measures many checks, and how long it takes for them. */
export const runPart: Part = {
  name: 'run',
  method: `\`vedette run\` of ${CHECKS} URL checks of a target, in a separate process, that delays each response by ${HELD_MS} ms and reports how long it really delayed it. The error is that of the response times in the results, including uncertain ones. The start of a run is the \`startedAt\` of its result; its lateness is the time after the planned start, which is the start of the first check plus the position of the run in the ${SPREAD_MS} ms over which the starts are spread. The end is the exit of the process, counted from the start of the first check, less the longest response time.`,
  programs: [],
  async run(context) {
    const folder = makeTempFolder();
    const options = { holdMs: HELD_MS, spinMs: 0 };
    const target = await startDriver('schedule-target', options, context.signal);
    try {
      const { port } = await target.ask<{ readonly port: number }>({ port: true });
      const file = folder.file('checks.json');
      writeFileSync(file, JSON.stringify({ checks: checksOf(port) }));
      const rounds = context.short ? 1 : Math.max(MIN_ROUNDS, context.rounds);
      const found: Round[] = [];
      for (let round = 0; round < rounds; round += 1) {
        context.signal.throwIfAborted();
        context.progress(`${CHECKS} checks at once, round ${round + 1} of ${rounds}`);
        found.push(await runOnce(file));
      }
      return rowsOf(found);
    } finally {
      await target.stop();
      folder.remove();
    }
  },
};

interface Round {
  readonly responseMs: number;
  readonly errorMs: number;
  readonly latestStartMs: number;
  readonly endMs: number;
}

function checksOf(port: number): readonly object[] {
  return Array.from({ length: CHECKS }, (_, n) => ({
    id: `check-${n}`,
    checkType: 'URL',
    doubleCheck: false,
    request: { url: `http://127.0.0.1:${port}/held`, ipFamily: 'IPv4' },
  }));
}

async function runOnce(file: string): Promise<Round> {
  const args = [MAIN, 'run', file, '--output', 'json', '--no-retries'];
  const { stdout } = await runToEnd(process.execPath, args);
  const endedMs = Date.now();
  const results = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as CheckResult);
  if (results.length !== CHECKS) throw new Error(`only ${results.length} of ${CHECKS} checks ran`);
  const starts = results.map(({ startedAt }) => Date.parse(startedAt)).sort((a, b) => a - b);
  const [firstMs = Number.NaN] = starts;
  const gapMs = SPREAD_MS / (CHECKS - 1);
  const times = results.map(({ responseTime }) => responseTime);
  return {
    responseMs: median(times),
    errorMs: median(results.map((result) => result.responseTime - heldMsOf(result))),
    latestStartMs: Math.max(...starts.map((ms, index) => ms - firstMs - index * gapMs)),
    endMs: endedMs - firstMs - Math.max(...times),
  };
}

function heldMsOf({ apiCheckResult }: CheckResult): number {
  return Number(apiCheckResult?.response?.headers['x-held-ms']);
}

function rowsOf(rounds: readonly Round[]): readonly Measured[] {
  const atMost = (number: number): Target => ({ of: 'value', bound: 'at most', number });
  const row = (measure: string, field: keyof Round, target?: Target): Measured => ({
    measure,
    values: rounds.map((round) => round[field]),
    unit: 'ms',
    ...(target === undefined ? {} : { target }),
  });
  const what = `${CHECKS} checks of ${HELD_MS} ms at once`;
  return [
    row(`Response time, median, ${what}`, 'responseMs'),
    row(`Error of the response time, median, ${what}`, 'errorMs', atMost(2)),
    row(`Lateness of starts, the latest, ${what}`, 'latestStartMs', atMost(25)),
    row(`End after the slowest check, ${what}`, 'endMs', atMost(300)),
  ];
}
