import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeTempFolder } from '../../support/temp-folder.ts';
import { type Driver, startDriver } from '../driver.ts';
import type { Measured, Part, PartContext, Target } from '../part.ts';
import { nodeArgs } from '../rig/node-args.ts';
import { quantile } from '../row.ts';
import { plannedChecks } from '../schedule/checks.ts';
import { type Judged, judge, type Seen } from '../schedule/observed.ts';

const MAIN = join(import.meta.dirname, '../../../dist/cli/main.js');
const MIX = { minutely: 10_000, tenSecondly: 2_000, held: 200 };
/** For the runs that begin at the end of the window. */
const AFTER_MS = 1_500;

/** Whether checks start when they are due, and what a busy agent says of its targets. */
export const schedulePart: Part = {
  name: 'schedule',
  method:
    'One agent process with 10,000 checks at 1 minute and 2,000 at 10 s (367 runs/s: API, URL, TCP and some DNS, each against an address of its own in 127.0.0.0/8); a start is the `startedAt` of its result, rounded up to the millisecond, and the accept at the target, in a process of its own, must bear it out. Missed: slots of the window, by the rule of each check, that have no run or more than one; firstByte: 200 of the checks go to a server that holds each request for 50 ms and says for how long it truly did.',
  programs: [],
  async run(context) {
    const rounds: Judged[] = [];
    for (let round = 0; round < context.rounds; round += 1) {
      context.progress(`12,000 checks, round ${round + 1} of ${context.rounds}`);
      rounds.push(await measure(context));
    }
    const of = (
      measured: string,
      unit: string,
      take: (judged: Judged) => number,
      number?: number,
    ) => rowWith(measured, unit, rounds.map(take), number);
    return [
      of('Lateness of starts, median', 'ms', ({ lateP50Ms }) => lateP50Ms, 2),
      of('Lateness of starts, p99', 'ms', ({ lateP99Ms }) => lateP99Ms, 25),
      { ...of('Slots missed, the worst round', 'slots', ({ missed }) => missed, 0), take: 'worst' },
      of('Lateness as the target sees it, median', 'ms', ({ arrivedP50Ms }) => arrivedP50Ms, 2),
      of('Lateness as the target sees it, p99', 'ms', ({ arrivedP99Ms }) => arrivedP99Ms, 25),
      of('Error of firstByte, median', 'ms', ({ errorsMs }) => quantile(errorsMs, 0.5), 0.5),
      of('Error of firstByte, p99', 'ms', ({ errorsMs }) => quantile(errorsMs, 0.99), 5),
    ];
  },
};

function rowWith(measure: string, unit: string, values: number[], number?: number): Measured {
  if (number === undefined) return { measure, unit, values };
  const target: Target = { of: 'value', bound: 'at most', number };
  return { measure, unit, values, target };
}

interface Report {
  readonly runs: Seen['runs'];
  readonly failed: readonly string[];
  readonly missed: number;
}

async function measure({ short, signal }: PartContext): Promise<Judged> {
  const folder = makeTempFolder();
  const drivers: Driver[] = [];
  let agentPid: number | null = null;
  const start = async (name: string, options: object): Promise<Driver> => {
    const driver = await startDriver(name, options, signal);
    drivers.push(driver);
    return driver;
  };
  try {
    const [target, held] = [await start('schedule-target', {}), await start('schedule-target', {})];
    const [{ port }, { port: heldPort }] = [await portOf(target), await portOf(held)];
    const checks = plannedChecks(MIX, { port, heldPort });
    const file = folder.file('checks.json');
    writeFileSync(file, JSON.stringify({ checks: checks.map(({ body }) => body) }));
    const agent = await start('schedule-reader', { main: MAIN, file, nodeArgs: nodeArgs() });
    agentPid = (await agent.ask<{ readonly pid: number }>({ pid: true })).pid;

    await delay(short ? 1_000 : 10_000, undefined, { signal });
    const fromMs = Date.now();
    await delay(short ? 4_000 : 40_000, undefined, { signal });
    const toMs = Date.now();
    await delay(AFTER_MS, undefined, { signal });
    const report = await agent.ask<Report>({});
    if (report.failed.length > 0) throw new Error(`checks failed: ${report.failed.join('; ')}`);
    const seen = await Promise.all(
      [target, held].map((each) => each.ask<{ readonly tcp: number[] }>({})),
    );
    const accepted = seen.flatMap(({ tcp }) => tcp);
    return judge(checks, { runs: report.runs, accepted }, { fromMs, toMs });
  } finally {
    if (agentPid !== null) endProcess(agentPid);
    await Promise.all(drivers.map((driver) => driver.stop()));
    folder.remove();
  }
}

function portOf(target: Driver): Promise<{ readonly port: number }> {
  return target.ask({ port: true });
}

/** It may have ended. */
function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {}
}
