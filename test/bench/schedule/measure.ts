import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { type Driver, startDriver } from '../driver.ts';
import type { PartContext } from '../part.ts';
import { nodeArgs } from '../support/node-args.ts';
import { hangingChecks, type Mix, plannedChecks } from './checks.ts';
import { type Judged, judge, type Seen } from './observed.ts';

const MAIN = join(import.meta.dirname, '../../../dist/cli/main.js');
/** Lets the runs end that begin at the end of the window. */
const AFTER_MS = 1_500;

interface Report {
  readonly runs: Seen['runs'];
  readonly failed: readonly string[];
  readonly missed: number;
}

export interface StartsOptions {
  readonly mix: Mix;
  /** Checks every 10 s of a target that takes a request and never answers; they are not judged. */
  readonly hanging: number;
}

/** Runs one agent process with these checks, and returns when it started those due in a window. */
export async function measureStarts(
  { short, signal }: PartContext,
  { mix, hanging }: StartsOptions,
): Promise<Judged> {
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
    const checks = plannedChecks(mix, { port, heldPort });
    const beside = hangingChecks(hanging, heldPort);
    const file = folder.file('checks.json');
    writeFileSync(file, JSON.stringify({ checks: [...checks, ...beside].map(({ body }) => body) }));
    const agent = await start('schedule-reader', {
      ...{ main: MAIN, file, nodeArgs: nodeArgs(), unread: beside.map(({ id }) => id) },
    });
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

/** Kills a process that may have ended. */
function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {}
}
