import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import {
  EVERYTHING,
  leavingNothing,
  livingBytes,
  livingHeapBytes,
  SOCKETS_AND_TIMERS,
  startWatchdog,
  type Watchdog,
  type Watched,
} from './guards.ts';

export interface Campaign<Case> {
  /** A description for people. */
  readonly name: string;
  /** Cases in a CI run; BREAK_FACTOR multiplies it. */
  readonly cases: number;
  /** Concurrent cases, each on its own lane. */
  readonly atOnce: number;
  /** Fixed cases, which run first. */
  readonly fixed: readonly Case[];
  readonly arbitrary: fc.Arbitrary<Case>;
  /** The bytes that the target sends, in the form of corpus files. */
  readonly bytesOf: (input: Case) => readonly Buffer[];
  /** The corpus folder for a failing case. */
  readonly corpus: keyof typeof CORPUS_NAMES;
  /**
   * Runs one case and checks the invariants of its outcome. Returns the outcome's name for the
   * tally.
   */
  readonly run: (input: Case, lane: number) => Promise<string> | string;
  /** Required outcomes: without them the generators are useless. */
  readonly mustSee: readonly string[];
  /** The environment of the cases; IN_MEMORY by default. */
  readonly ground?: Ground;
}

/** Datagrams and messages or TCP streams; HTTP/1 responses or HTTP/2 frames; files and messages. */
const CORPUS_NAMES = {
  dns: 'NAME.msg (or .stream)',
  http: 'NAME.http (or .h2)',
  'check-files': 'NAME.yaml.txt',
  protocol: 'KIND--NAME.json.txt',
};

/** Checks of the process that runs the cases. */
export interface Ground {
  /** Allowed open resources afterwards; see `leavingNothing`. */
  readonly watched: Watched;
  readonly livingBytes: () => Promise<number>;
  /** The allowed growth of the heap since the warm-up. */
  readonly maxGrowthBytes: number;
  readonly warmUpShare: number;
  /** CPU limit of the whole process for one case: a guard against hangs, not a benchmark. */
  readonly maxCaseCpuMs: number;
  /** Whether a case can be repeated, to shrink it or to find it in a batch. */
  readonly isRepeatable: boolean;
}

const MIB = 1024 * 1024;

const IN_MEMORY: Ground = {
  watched: EVERYTHING,
  livingBytes,
  maxGrowthBytes: 12 * MIB,
  warmUpShare: 0.2,
  maxCaseCpuMs: 1_000,
  isRepeatable: true,
};

/**
 * The embedded database is in the process: it opens files as it reaches its tables and keeps its
 * pages in memory, so only sockets, timers and the JavaScript heap must be unchanged. Its changes
 * cannot be undone.
 */
export const IN_A_DATABASE: Ground = {
  watched: SOCKETS_AND_TIMERS,
  livingBytes: livingHeapBytes,
  maxGrowthBytes: 16 * MIB,
  warmUpShare: 0.3,
  maxCaseCpuMs: 3_000,
  isRepeatable: false,
};

const factor = Number(process.env.BREAK_FACTOR ?? '1');
const givenSeed = process.env.BREAK_SEED;

/** The time limit of shrinking a failing case. */
const MAX_SHRINKING_MS = 30_000;
/** Far beyond every deadline of a probe. */
const MAX_WAIT_MS = 60_000;

/**
 * Runs the unchanged corpus and then the given number of generated cases. Checks for all: the
 * invariants of `run`, no fault outside of it, a CPU limit per case, no open resources afterwards,
 * and no memory leak.
 */
export async function runCampaign<Case>(campaign: Campaign<Case>): Promise<void> {
  expect(factor, 'BREAK_FACTOR').toBeGreaterThan(0);
  const seed = givenSeed === undefined ? randomInt(2 ** 31 - 1) : Number(givenSeed);
  expect(Number.isSafeInteger(seed), `BREAK_SEED=${givenSeed} is a whole number`).toBe(true);
  const startMs = performance.now();
  const cpu = process.cpuUsage();
  const runner = new Runner(campaign, await startWatchdog());
  try {
    await runner.run(seed);
  } finally {
    await runner.end();
  }
  const { user, system } = process.cpuUsage(cpu);
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  const cpuSeconds = ((user + system) / 1e6).toFixed(1);
  const tally = [...runner.tally].sort(([, left], [, right]) => right - left);
  const outcomes = tally.map(([name, count]) => `${name} ${count}`).join(', ');
  process.stdout.write(
    `${campaign.name}: ${runner.count} cases in ${seconds} s (${cpuSeconds} s of CPU), BREAK_SEED=${seed}; ${outcomes}\n`,
  );
  expect(runner.count).toBeGreaterThanOrEqual(Math.ceil(campaign.cases * factor));
  if (factor < 1) return;
  for (const name of campaign.mustSee) {
    expect(runner.tally.get(name) ?? 0, `cases that end in ${name}`).toBeGreaterThan(0);
  }
}

interface Failed<Case> {
  readonly input: Case;
  readonly error: unknown;
}

class Runner<Case> {
  readonly tally = new Map<string, number>();
  count = 0;
  readonly #campaign: Campaign<Case>;
  readonly #ground: Ground;
  readonly #watchdog: Watchdog;
  readonly #faults: unknown[] = [];
  readonly #onFault = (fault: unknown): void => {
    this.#faults.push(fault);
  };
  #failed: Failed<Case> | null = null;
  #failedAtMs: number | null = null;
  #batches = 0;
  #seed = 0;
  #warmBytes: number | null = null;

  constructor(campaign: Campaign<Case>, watchdog: Watchdog) {
    this.#campaign = campaign;
    this.#ground = campaign.ground ?? IN_MEMORY;
    this.#watchdog = watchdog;
    // Unhandled socket errors and rejections, accumulating listeners.
    process.on('uncaughtException', this.#onFault);
    process.on('unhandledRejection', this.#onFault);
    process.on('warning', this.#onFault);
  }

  async run(seed: number): Promise<void> {
    const { cases, atOnce, fixed, arbitrary } = this.#campaign;
    const { watched, warmUpShare, maxGrowthBytes, isRepeatable } = this.#ground;
    this.#seed = seed;
    await leavingNothing(async () => {
      for (let at = 0; at < fixed.length; at += atOnce) {
        await this.#batch(fixed.slice(at, at + atOnce)).catch((error: unknown) => {
          throw this.#report(error, seed);
        });
      }
      const numRuns = Math.ceil(Math.max(1, cases * factor - this.count) / atOnce);
      const batch = fc.tuple(...Array.from({ length: atOnce }, () => arbitrary));
      const warmAt = this.#batches + Math.ceil(numRuns * warmUpShare);
      const property = fc.asyncProperty(batch, async (inputs) => {
        if (this.#batches === warmAt) this.#warmBytes = await this.#ground.livingBytes();
        if (this.#failedAtMs !== null && performance.now() - this.#failedAtMs > MAX_SHRINKING_MS) {
          return;
        }
        await this.#batch(inputs);
      });
      const details = await fc.check(property, { seed, numRuns, endOnFailure: !isRepeatable });
      if (details.failed) throw this.#report(details.errorInstance, seed);
    }, watched);
    // A run too short for a warm-up proves nothing.
    if (this.#warmBytes === null) return;
    const growth = (await this.#ground.livingBytes()) - this.#warmBytes;
    expect(growth, 'bytes that live on since the warm-up').toBeLessThan(maxGrowthBytes);
  }

  async end(): Promise<void> {
    process.off('uncaughtException', this.#onFault);
    process.off('unhandledRejection', this.#onFault);
    process.off('warning', this.#onFault);
    await this.#watchdog.end();
  }

  async #batch(inputs: readonly Case[]): Promise<void> {
    this.#batches += 1;
    const shown = inputs.map((input) => this.#shown(input));
    this.#watchdog.beat([`  BREAK_SEED=${this.#seed}`, ...shown].join('\n'));
    const cpuMs = await cpuOf(async () => {
      await Promise.all(inputs.map((input, lane) => this.#one(input, lane)));
    });
    const { maxCaseCpuMs, isRepeatable } = this.#ground;
    if (cpuMs <= maxCaseCpuMs) return;
    for (const input of inputs) {
      const aloneMs = isRepeatable ? await cpuOf(() => this.#one(input, 0)) : cpuMs;
      if (aloneMs > maxCaseCpuMs) {
        this.#fail(input, new Error(`this case alone takes ${Math.round(aloneMs)} ms of CPU`));
      }
    }
  }

  async #one(input: Case, lane: number): Promise<void> {
    let name: string;
    try {
      const ended = this.#campaign.run(input, lane);
      name = typeof ended === 'string' ? ended : await withinLimit(ended);
      if (this.#faults.length > 0) throw this.#faults.splice(0)[0];
    } catch (error) {
      this.#fail(input, error);
    }
    this.count += 1;
    this.tally.set(name, (this.tally.get(name) ?? 0) + 1);
  }

  #fail(input: Case, error: unknown): never {
    this.#failed = { input, error };
    this.#failedAtMs ??= performance.now();
    throw error;
  }

  #report(error: unknown, seed: number): Error {
    const { name, corpus } = this.#campaign;
    const failed = this.#failed;
    const cause = failed?.error ?? error;
    const lines = [
      `${name}: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`,
      `Repeat it with BREAK_SEED=${seed} (and the same BREAK_FACTOR).`,
    ];
    if (failed !== null) {
      lines.push(
        'What was sent, in base64:',
        this.#shown(failed.input),
        `Add it to the corpus, named for what it is, and it is run first from then on: echo BASE64 | base64 -d > test/break/corpus/${corpus}/${CORPUS_NAMES[corpus]}`,
      );
    }
    return new Error(lines.join('\n'), { cause });
  }

  #shown(input: Case): string {
    const parts = this.#campaign.bytesOf(input);
    return parts.map((bytes) => `  ${bytes.toString('base64')}`).join('\n');
  }
}

async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

async function withinLimit<T>(ended: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const never = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`it has not ended within ${MAX_WAIT_MS} ms`)),
      MAX_WAIT_MS,
    );
  });
  try {
    return await Promise.race([ended, never]);
  } finally {
    clearTimeout(timer);
  }
}
