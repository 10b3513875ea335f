import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type DiskCall, type Fault, FaultyDisk } from './disk.ts';
import { PowerShadow } from './power.ts';
import { playScenario } from './scenario.ts';
import type { Stage } from './stage.ts';

/** One run of the scenario with one failing call. */
export interface FaultCase {
  /** Number and name of the call in the recording: the run must reach the same one. */
  readonly at: number;
  readonly call: DiskCall;
  readonly kind: string;
  readonly fault: Fault;
  /** A power loss: everything unsynced is lost. */
  readonly losesPower: boolean;
}

type Code = 'EIO' | 'ENOSPC' | 'EROFS' | 'EMFILE' | 'ENOENT' | 'EACCES';

/** The error codes of each call. */
const REFUSALS: Readonly<Record<string, readonly Code[]>> = {
  open: ['EMFILE', 'EIO'],
  mkdir: ['EROFS'],
  readdir: ['EMFILE', 'EIO'],
  rename: ['EROFS'],
  unlink: ['EROFS'],
  stat: ['EIO'],
  'file stat': ['EIO'],
  read: ['EIO'],
  write: ['ENOSPC'],
  datasync: ['EIO'],
  sync: ['EIO'],
  truncate: ['EIO'],
  // A file is closed whatever close(2) returns.
  close: [],
};
const READS: ReadonlySet<string> = new Set(['readdir', 'stat', 'file stat', 'read']);

/** All possible faults of each call in the recording. */
export function casesOf(calls: readonly DiskCall[]): readonly FaultCase[] {
  return calls.flatMap((call, at) =>
    faultsOf(call).map(({ kind, fault, losesPower = false }) => ({
      at,
      call,
      kind,
      fault,
      losesPower,
    })),
  );
}

interface CallFault {
  readonly kind: string;
  readonly fault: Fault;
  readonly losesPower?: boolean;
}

function faultsOf({ method, name }: DiskCall): readonly CallFault[] {
  const refusals = REFUSALS[method];
  if (refusals === undefined) throw new Error(`no faults are known for ${method}`);
  const faults: CallFault[] = refusals.map((code) => ({
    kind: `fails (${code})`,
    fault: { kind: 'fail', code, done: 'nothing' },
  }));
  if (method === 'open' && !name.endsWith('spool')) {
    faults.push({
      kind: 'fails (ENOENT)',
      fault: { kind: 'fail', code: 'ENOENT', done: 'nothing' },
    });
  }
  const isRead = READS.has(method);
  if (!isRead)
    faults.push({ kind: 'fails after', fault: { kind: 'fail', code: 'EIO', done: 'all' } });
  faults.push({ kind: 'stalls', fault: { kind: 'stall', code: null } });
  if (method !== 'close') {
    faults.push({ kind: 'stalls, then fails', fault: { kind: 'stall', code: 'EIO' } });
  }
  if (method === 'read' || method === 'write') {
    faults.push({ kind: 'does half', fault: { kind: 'short' } });
  }
  if (method === 'write') {
    const fault = { kind: 'fail', code: 'ENOSPC', done: 'half' } as const;
    faults.push({ kind: 'does half, then fails', fault });
  }
  // The state before it equals the state after the previous call.
  faults.push({ kind: 'dies after', fault: { kind: 'die', done: 'all' } });
  if (isRead) return faults;
  faults.push({
    kind: 'the power goes after',
    fault: { kind: 'die', done: 'all' },
    losesPower: true,
  });
  if (method !== 'write') return faults;
  faults.push({ kind: 'dies in', fault: { kind: 'die', done: 'half' } });
  faults.push({
    kind: 'the power goes in',
    fault: { kind: 'die', done: 'half' },
    losesPower: true,
  });
  return faults;
}

export interface Played {
  readonly stage: Stage;
  readonly disk: FaultyDisk;
}

/** Runs the scenario in that empty folder. */
export async function play(folder: string, only: FaultCase | null, seed: number): Promise<Played> {
  // The calls' names contain only the last part of the folder, which is this one.
  mkdirSync(join(folder, 'top'), { recursive: true });
  const dataDir = join(folder, 'top', 'a', 'b');
  const random = randomFrom(seed + (only?.at ?? 0));
  const shadow = only?.losesPower === true ? new PowerShadow(folder) : null;
  const disk = new FaultyDisk({ fault: only, shadow, takesSites: only === null });
  const stage = await playScenario({
    dataDir,
    disk,
    afterwards() {
      if (shadow === null) return { dataDir, disk: new FaultyDisk({}) };
      const after = join(folder, 'after');
      shadow.leaveTo(after, random);
      return { dataDir: join(after, 'top', 'a', 'b'), disk: new FaultyDisk({}) };
    },
  });
  return { stage, disk };
}

/** Numbers in [0, 1), the same for the same seed. */
function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
