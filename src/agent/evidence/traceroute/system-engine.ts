import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Clock } from '../../../runtime/clock.ts';
import type { Family } from '../../net/resolver.ts';
import { type EvidenceProcessEnd, findProgram, spawnEvidenceProcess } from '../evidence-process.ts';
import {
  type Engine,
  type EngineOptions,
  type EngineRun,
  type FoundEngine,
  MAX_TTL,
  type Observed,
  PROBE_WAIT_MS,
  PROBES_PER_HOP,
} from './engine.ts';
import { TracerouteOutput, withLastHopRead } from './output-parser.ts';

/** Pause between two probes, since routers limit their answers; 1.35 s in total. */
const SEND_STEP_MS = 15;
const MIN_WAIT_MS = 1000;
const TRIAL_LIMIT_MS = 3000;
/** Limit for reading the pipes after the end; another process may still have them open. */
const REST_LIMIT_MS = 500;
const MAX_ERROR_CHARS = 2048;
const MAX_SHOWN_ERROR_CHARS = 200;

export interface SystemEngineOptions {
  readonly clock: Clock;
  /** Directories to search for the program; default: those of the system. */
  readonly folders?: readonly string[];
}

/**
 * The program `traceroute` of Linux distributions, which needs no privilege. It sends UDP datagrams
 * to unused ports, all in flight at once, so silence costs one wait, not one per hop. A trial on
 * the loopback shows whether this program of that name knows the options.
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
  if (trial.killedFor !== null) return { ok: false, reason: `${path} does not end` };
  if (trial.end.code !== 0) return { ok: false, reason: `${path}: ${failureText(trial)}` };
  const run: Engine['run'] = (address, family, how) =>
    trace(path, address, family, { ...how, clock });
  return { ok: true, engine: { method: 'traceroute', run } };
}

async function trace(
  path: string,
  address: string,
  family: Family,
  options: EngineOptions & { readonly clock: Clock },
): Promise<EngineRun> {
  const { clock, deadlineMs } = options;
  const sendingMs = MAX_TTL * PROBES_PER_HOP * SEND_STEP_MS;
  const leftMs = deadlineMs - clock.monotonicMs() - sendingMs;
  const waitMs = Math.min(PROBE_WAIT_MS, Math.max(MIN_WAIT_MS, leftMs));
  const ran = await runProgram(
    path,
    argumentsFor(address, family, MAX_TTL, waitMs),
    family,
    options,
  );
  const { hops, killedFor } = ran;
  const endedItself = killedFor === null && ran.end.code === 0;
  if (killedFor === null && !endedItself && hops.length === 0) {
    return { ok: false, note: `the program traceroute failed: ${failureText(ran)}` };
  }
  const observed: Observed = {
    hops: withLastHopRead(hops, address, endedItself),
    ended: endedItself ? 'complete' : (killedFor ?? 'stopped'),
  };
  return { ok: true, observed };
}

/** The only part of the target is an address that was parsed. */
function argumentsFor(address: string, family: Family, maxTtl: number, waitMs: number): string[] {
  return [
    `-${family}`,
    '-n',
    ...['-q', String(PROBES_PER_HOP)],
    ...['-m', String(maxTtl)],
    ...['-N', String(maxTtl * PROBES_PER_HOP)],
    ...['-w', (waitMs / 1000).toFixed(3)],
    // Numbers above 10 are milliseconds.
    ...['-z', String(SEND_STEP_MS)],
    address,
  ];
}

interface Ran {
  readonly end: EvidenceProcessEnd;
  /** Why it was killed; null if it ended by itself. */
  readonly killedFor: 'time limit' | 'stopped' | null;
  readonly hops: Observed['hops'];
  readonly errorText: string;
}

/** Resolves when the process has ended and its output is read. */
async function runProgram(
  path: string,
  args: readonly string[],
  family: Family,
  { clock, signal, deadlineMs }: EngineOptions & { readonly clock: Clock },
): Promise<Ran> {
  const output = new TracerouteOutput(family);
  let errorText = '';
  let killedFor: Ran['killedFor'] = null;
  const child = spawnEvidenceProcess('traceroute', path, args);
  const killFor = (why: 'time limit' | 'stopped'): void => {
    killedFor ??= why;
    void child.kill();
  };
  const onAbort = (): void => killFor('stopped');
  const cancel = clock.after(deadlineMs - clock.monotonicMs(), () => killFor('time limit'));
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
  return { end, killedFor: end.code === null ? killedFor : null, hops: output.hops, errorText };
}

/** Both of its outputs are ASCII. */
async function readText(stream: Readable, take: (piece: string) => void): Promise<void> {
  stream.on('data', (chunk: Buffer) => take(chunk.toString('latin1')));
  // A broken output has no more data.
  await finished(stream).catch(() => undefined);
}

function failureText({ end, errorText }: Ran): string {
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
