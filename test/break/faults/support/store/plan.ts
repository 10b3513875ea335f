import { type CaseReport, faultsIn, runCase, type Scenario } from './cases.ts';
import { FAULT_KINDS, type Fault, type FaultKind, type StoreCall } from './faults.ts';
import type { FaultService } from './service.ts';

/**
 * The kinds with different outcomes of a call. A single statement that is rolled back equals a
 * refused one, and a failed transaction leaves nothing, whether the statement ran or not.
 */
const KINDS: Readonly<Record<StoreCall['place'], readonly FaultKind[]>> = {
  query: ['refused', 'answer lost', 'stalled'],
  listen: ['refused', 'stalled'],
  begin: ['refused', 'stalled'],
  statement: ['answer lost', 'stalled', 'rolled back'],
  commit: ['refused', 'answer lost', 'stalled', 'rolled back'],
};

export interface Campaign {
  readonly calls: number;
  readonly faults: number;
  readonly cases: number;
  /** Functions in files with SQL that were called. */
  readonly through: ReadonlySet<string>;
  /** Each as `kind|operation`: the planned faults, and those that occurred. */
  readonly chosen: ReadonlySet<string>;
  readonly hit: ReadonlySet<string>;
  /** One line per fault found. */
  readonly failures: readonly string[];
}

/** The selection of a scenario's faults. `failed` are the operations that failed in an earlier scenario. */
export type Choice = (faults: readonly Fault[], failed: ReadonlySet<string>) => readonly Fault[];

const MAX_FAILURES = 20;
/** Each fault hits another try of the client. */
const FAULTS_PER_STEP = 3;
const TRIES_ALONE = 4;
/**
 * A loop makes the same calls in each iteration: the first iterations of a scenario represent the
 * others.
 */
const TURNS = 3;

/**
 * Runs the scenario without faults, and then with a fault at each of its calls. A case has a few
 * faults in each step, far apart, so that each hits another try, and their effects end before the
 * next step. If a case fails, its faults are tried one by one to find the cause.
 */
export async function tryFaults(
  service: FaultService,
  scenario: Scenario,
  choose: (faults: readonly Fault[]) => readonly Fault[],
): Promise<Campaign> {
  const normal = await runCase(service, scenario, []);
  const again = await runCase(service, scenario, []);
  const unsteady = [...normal.wrong, ...faultsIn(normal, again, 'refused')];
  const { calls, through } = normal.run;
  const chosen = new Set(unsteady.length > 0 ? [] : choose(worthwhile(calls).flatMap(faultsOf)));
  const failures = unsteady.map((line) => `without a fault: ${line}`);
  const hit = new Set<string>();
  const cases = FAULT_KINDS.flatMap((kind) => casesOf(calls, kind, chosen));
  const tryCase = async (faults: readonly Fault[]): Promise<void> => {
    const report = await runCase(service, scenario, faults);
    for (const fault of report.run.hit) hit.add(nameOf(fault));
    failures.push(...(await explained(service, scenario, { normal, report, faults })));
  };
  for (const faults of cases) {
    await tryCase(faults);
    if (failures.length >= MAX_FAILURES) break;
  }
  // Faults that did not occur because of others in the same case are tried alone.
  const alone = [...chosen].filter((fault) => !hit.has(nameOf(fault)));
  for (const fault of failures.length > 0 ? [] : alone) {
    await tryCase([fault]);
    // A loop's call may come in another step, or not in each run.
    const first = { ...fault, callId: fault.operation };
    for (let tries = 1; tries < TRIES_ALONE && !hit.has(nameOf(fault)); tries += 1) {
      await tryCase([first]);
    }
  }
  return {
    calls: calls.length,
    faults: chosen.size,
    cases: cases.length,
    through,
    chosen: new Set([...chosen].map(nameOf)),
    // The failure is reported already.
    hit: failures.length > 0 ? new Set([...chosen].map(nameOf)) : hit,
    failures,
  };
}

/**
 * One fault of each operation of a scenario, and a share of all others (0 to 1), the same for the same seed.
 */
export function sampleOf(seed: number, shareOfOthers: number): Choice {
  return (faults) => drawn(faults, { seed, shareOfOthers, tried: new Set() });
}

/**
 * One fault of each operation that no earlier scenario had fail, and a share of all others (0 to 1). Other
 * seeds try other faults of the operations.
 */
export function onceEach(seed: number, shareOfOthers: number): Choice {
  return (faults, failed) => drawn(faults, { seed, shareOfOthers, tried: failed });
}

function drawn(
  faults: readonly Fault[],
  {
    seed,
    shareOfOthers,
    tried,
  }: {
    readonly seed: number;
    readonly shareOfOthers: number;
    /** The operations that need no fault. */
    readonly tried: ReadonlySet<string>;
  },
): readonly Fault[] {
  const random = mulberry32(seed);
  const seen = new Set(tried);
  const places = faults
    .map((fault) => ({ fault, place: random() }))
    .sort((one, other) => one.place - other.place);
  const sample = places.filter(({ fault, place }) => {
    const isFirst = !seen.has(fault.operation);
    seen.add(fault.operation);
    return isFirst || place < shareOfOthers;
  });
  return sample.map(({ fault }) => fault);
}

/** Uniformly distributed numbers from 0 to 1. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function faultsOf({ id: callId, place, operation }: StoreCall): readonly Fault[] {
  return KINDS[place].map((kind) => ({ callId, place, operation, kind }));
}

function nameOf({ kind, operation }: Fault): string {
  return `${kind}|${operation}`;
}

function worthwhile(calls: readonly StoreCall[]): readonly StoreCall[] {
  const turns = new Map<string, number>();
  return calls.filter(({ operation, isOfLoop }) => {
    if (!isOfLoop) return true;
    turns.set(operation, (turns.get(operation) ?? 0) + 1);
    return (turns.get(operation) ?? 0) <= TURNS;
  });
}

/** The faults of a kind, a few of each step in each case, as far apart as possible. */
function casesOf(
  calls: readonly StoreCall[],
  kind: FaultKind,
  chosen: ReadonlySet<Fault>,
): readonly (readonly Fault[])[] {
  const stepOf = new Map(calls.map(({ id, step }) => [id, step]));
  const ofStep = new Map<number, Fault[]>();
  for (const fault of chosen) {
    if (fault.kind !== kind) continue;
    const step = stepOf.get(fault.callId) ?? 0;
    ofStep.set(step, [...(ofStep.get(step) ?? []), fault]);
  }
  const cases: Fault[][] = [];
  for (const faults of ofStep.values()) {
    const count = Math.ceil(faults.length / FAULTS_PER_STEP);
    for (const [at, fault] of faults.entries()) {
      const group = cases[at % count] ?? [];
      cases[at % count] = [...group, fault];
    }
  }
  return cases;
}

async function explained(
  service: FaultService,
  scenario: Scenario,
  {
    normal,
    report,
    faults,
  }: {
    readonly normal: CaseReport;
    readonly report: CaseReport;
    readonly faults: readonly Fault[];
  },
): Promise<readonly string[]> {
  const kind = faults[0]?.kind ?? 'refused';
  const lines = faultsIn(normal, report, kind);
  if (lines.length === 0) return [];
  const alone: string[] = [];
  for (const fault of report.run.hit) {
    const single = await runCase(service, scenario, [fault]);
    for (const line of faultsIn(normal, single, kind)) {
      alone.push(`${kind} at ${fault.callId}: ${line}`);
    }
  }
  if (alone.length > 0) return alone;
  const names = [...report.run.hit].map(({ callId }) => callId).join(', ');
  return lines.map((line) => `${kind} at all of ${names}: ${line}`);
}
