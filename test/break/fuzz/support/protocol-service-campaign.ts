import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { livingBytes } from './dns-http-guards.ts';

export interface ServiceCampaign<Case> {
  readonly name: string;
  /** In a run of CI; BREAK_FACTOR multiplies it. */
  readonly cases: number;
  /** Run as they stand, first and always. */
  readonly fixed: readonly Case[];
  readonly arbitrary: fc.Arbitrary<Case>;
  readonly bytesOf: (input: Case) => Buffer;
  /** Holds the outcome to the invariants, and gives its name. */
  readonly run: (input: Case) => Promise<string>;
  readonly mustSee: readonly string[];
}

const factor = Number(process.env.BREAK_FACTOR ?? '1');
const seed = Number(process.env.BREAK_SEED ?? randomInt(2 ** 31 - 1));
const MAX_CASE_CPU_MS = 3_000;
const MAX_GROWTH_BYTES = 16 * 1024 * 1024;
const WARM_UP_SHARE = 0.3;
/** How long the last connections may take to close; only a leak comes near. */
const MAX_SETTLING_MS = 10_000;

/**
 * The campaign for what has the embedded database in its process: that opens files as it comes to
 * its tables and keeps its pages in memory, so here only sockets, timers and what lives on the heap
 * of JavaScript have to be as they were.
 */
export async function runServiceCampaign<Case>(campaign: ServiceCampaign<Case>): Promise<void> {
  const { name, cases, fixed, arbitrary, mustSee } = campaign;
  const faults: unknown[] = [];
  const onFault = (fault: unknown): void => void faults.push(fault);
  const events = ['uncaughtException', 'unhandledRejection', 'warning'] as const;
  for (const event of events) process.on(event, onFault);
  const tally = new Map<string, number>();
  let count = 0;
  let last: Case | null = null;
  const one = async (input: Case): Promise<void> => {
    last = input;
    const before = process.cpuUsage();
    const outcome = await campaign.run(input);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000, 'ms of CPU for this case').toBeLessThan(MAX_CASE_CPU_MS);
    if (faults.length > 0) throw faults[0];
    tally.set(outcome, (tally.get(outcome) ?? 0) + 1);
    count += 1;
  };
  const startMs = performance.now();
  const cpu = process.cpuUsage();
  const open = openThings();
  let warmBytes = 0;
  try {
    for (const input of fixed) await one(input);
    const numRuns = Math.ceil(Math.max(1, cases * factor - count));
    const warmAt = count + Math.floor(numRuns * WARM_UP_SHARE);
    const property = fc.asyncProperty(arbitrary, async (input) => {
      if (count === warmAt) warmBytes = await heapBytes();
      await one(input);
    });
    // What is done to a database cannot be undone, so the first that fails is the one to show.
    await fc.assert(property, { seed, numRuns, endOnFailure: true });
    const growth = (await heapBytes()) - warmBytes;
    expect(growth, 'bytes on the heap since the warm-up').toBeLessThan(MAX_GROWTH_BYTES);
    const endMs = performance.now() + MAX_SETTLING_MS;
    const isSettled = (): boolean => performance.now() > endMs;
    await eventually(() => moreThan(open).length === 0 || isSettled());
    expect(moreThan(open), 'sockets and timers left open').toEqual([]);
  } catch (error) {
    throw reportOf(name, error, last === null ? null : campaign.bytesOf(last));
  } finally {
    for (const event of events) process.off(event, onFault);
  }
  const { user, system } = process.cpuUsage(cpu);
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  const outcomes = [...tally].map(([outcome, times]) => `${outcome} ${times}`).join(', ');
  process.stdout.write(
    `${name}: ${count} cases in ${seconds} s (${((user + system) / 1e6).toFixed(1)} s of CPU), BREAK_SEED=${seed}; ${outcomes}\n`,
  );
  expect(count).toBeGreaterThanOrEqual(Math.ceil(cases * factor));
  for (const outcome of mustSee) expect(tally.get(outcome) ?? 0, outcome).toBeGreaterThan(0);
}

async function heapBytes(): Promise<number> {
  await livingBytes();
  return process.memoryUsage().heapUsed;
}

function openThings(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) {
    if (/^(TCP|TLS|Pipe|Timeout)/.test(name)) counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** What there is more of, like `Timeout: 3, before 2`. */
function moreThan(before: Readonly<Record<string, number>>): readonly string[] {
  return Object.entries(openThings())
    .filter(([name, count]) => count > (before[name] ?? 0))
    .map(([name, count]) => `${name}: ${count}, before ${before[name] ?? 0}`);
}

function reportOf(name: string, error: unknown, bytes: Buffer | null): Error {
  const lines = [
    `${name}: ${error instanceof Error ? error.message : String(error)}`,
    `Repeat it with BREAK_SEED=${seed} (and the same BREAK_FACTOR).`,
  ];
  if (bytes !== null) {
    lines.push(
      'The body of the last request, in base64:',
      bytes.toString('base64'),
      'Add it to the corpus, named for what it is, and it is run first from then on: echo BASE64 | base64 -d > test/break/corpus/protocol/KIND--NAME.json.txt',
    );
  }
  return new Error(lines.join('\n'), { cause: error });
}
