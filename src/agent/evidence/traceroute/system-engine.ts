import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Clock } from '../../../runtime/clock.ts';
import type { Family } from '../../net/resolver.ts';
import { findProgram, type OwnProcessEnd, spawnOwn } from '../own-process.ts';
import {
  type Engine,
  type EngineOptions,
  type EngineRun,
  type FoundEngine,
  MAX_TTL,
  type Observed,
  PROBE_WAIT_MS,
  PROBES_A_HOP,
} from './engine.ts';
import { TracerouteOutput, withLastHopRead } from './output-parser.ts';

/** Between two probes: slow enough for routers that limit their answers, 1.35 s for all. */
const SEND_STEP_MS = 15;
const MIN_WAIT_MS = 1000;
const TRIAL_LIMIT_MS = 3000;
/** For reading the pipes after the program ended; another process may still have them open. */
const REST_LIMIT_MS = 500;
const MAX_ERROR_CHARS = 2048;
const MAX_SHOWN_ERROR_CHARS = 200;

export interface SystemEngineOptions {
  readonly clock: Clock;
  /** Directories to search for the program; default: those of the system. */
  readonly folders?: readonly string[];
}

/**
 * The program `traceroute` of Linux distributions, which needs no privilege: UDP datagrams to
 * ports that nobody listens on, all in flight at once, so that silence costs one wait and not one
 * for each hop. Others of the name do not know these options: a trial on the loopback tells.
 */
export async function findSystemEngine(options: SystemEngineOptions): Promise<FoundEngine> {
  const { clock, folders } = options;
  const path = await findProgram('traceroute', folders);
  if (path === null) return { ok: false, reason: 'it is not installed' };
  const trial = await runProgram(path, argumentsFor('127.0.0.1', 4, 1, MIN_WAIT_MS), 4, {
    clock,
    signal: new AbortController().signal,
    deadlineMs: clock.monotonicMs() + TRIAL_LIMIT_MS,
  });
  if (trial.brokenOff !== null) return { ok: false, reason: `${path} does not end` };
  if (trial.end.code !== 0) return { ok: false, reason: `${path}: ${faultOf(trial)}` };
  return { ok: true, engine: new SystemEngine(path, clock) };
}

class SystemEngine implements Engine {
  readonly method = 'traceroute';
  readonly #path: string;
  readonly #clock: Clock;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  async run(address: string, family: Family, options: EngineOptions): Promise<EngineRun> {
    const clock = this.#clock;
    const sendingMs = MAX_TTL * PROBES_A_HOP * SEND_STEP_MS;
    const leftMs = options.deadlineMs - clock.monotonicMs() - sendingMs;
    const waitMs = Math.min(PROBE_WAIT_MS, Math.max(MIN_WAIT_MS, leftMs));
    const args = argumentsFor(address, family, MAX_TTL, waitMs);
    const ran = await runProgram(this.#path, args, family, { ...options, clock });
    const { hops, brokenOff } = ran;
    const endedItself = brokenOff === null && ran.end.code === 0;
    if (brokenOff === null && !endedItself && hops.length === 0) {
      return { ok: false, note: `the program traceroute failed: ${faultOf(ran)}` };
    }
    const observed: Observed = {
      hops: withLastHopRead(hops, address, endedItself),
      ended: endedItself ? 'complete' : (brokenOff ?? 'stopped'),
    };
    return { ok: true, observed };
  }
}

/** Nothing of the target but an address that was parsed, and its family. */
function argumentsFor(address: string, family: Family, maxTtl: number, waitMs: number): string[] {
  return [
    `-${family}`,
    '-n',
    ...['-q', String(PROBES_A_HOP)],
    ...['-m', String(maxTtl)],
    ...['-N', String(maxTtl * PROBES_A_HOP)],
    ...['-w', (waitMs / 1000).toFixed(3)],
    // Numbers above 10 are milliseconds.
    ...['-z', String(SEND_STEP_MS)],
    address,
  ];
}

interface Ran {
  readonly end: OwnProcessEnd;
  /** Why it was killed; null where it ended by itself. */
  readonly brokenOff: 'time limit' | 'stopped' | null;
  readonly hops: Observed['hops'];
  readonly errorText: string;
}

/** Resolves when the process is gone, and what it had written is read. */
async function runProgram(
  path: string,
  args: readonly string[],
  family: Family,
  { clock, signal, deadlineMs }: EngineOptions & { readonly clock: Clock },
): Promise<Ran> {
  const output = new TracerouteOutput(family);
  let errorText = '';
  let brokenOff: Ran['brokenOff'] = null;
  const child = spawnOwn('traceroute', path, args);
  const breakOff = (why: 'time limit' | 'stopped'): void => {
    brokenOff ??= why;
    void child.kill();
  };
  const onAbort = (): void => breakOff('stopped');
  const cancel = clock.after(deadlineMs - clock.monotonicMs(), () => breakOff('time limit'));
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const read = Promise.all([
    readText(child.stdout, (piece) => output.write(piece)),
    readText(child.stderr, (piece) => {
      errorText = (errorText + piece).slice(0, MAX_ERROR_CHARS);
    }),
  ]);
  const end = await child.ended;
  cancel();
  signal.removeEventListener('abort', onAbort);
  const cancelRest = clock.after(REST_LIMIT_MS, () => {
    child.stdout.destroy();
    child.stderr.destroy();
  });
  await read;
  cancelRest();
  output.end();
  return { end, brokenOff: end.code === null ? brokenOff : null, hops: output.hops, errorText };
}

/** Both of its outputs are ASCII. */
async function readText(stream: Readable, take: (piece: string) => void): Promise<void> {
  stream.on('data', (chunk: Buffer) => take(chunk.toString('latin1')));
  // A broken output has no more data.
  await finished(stream).catch(() => undefined);
}

function faultOf({ end, errorText }: Ran): string {
  const said = errorText
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '');
  if (said !== undefined) return printable(said).slice(0, MAX_SHOWN_ERROR_CHARS);
  if (end.startError !== null) return `it could not be started (${end.startError})`;
  return end.signal === null ? `it ended with code ${end.code}` : `it was ended by ${end.signal}`;
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}
