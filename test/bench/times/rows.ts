import type { Measured } from '../part.ts';
import { quantile } from '../row.ts';
import type { Outcome } from './measured.ts';
import type { Errors, Time } from './packet-times.ts';

/** The measurements of one condition, by round. */
export interface Rounds {
  readonly condition: string;
  readonly agent: readonly Outcome[];
  readonly exporter: readonly Outcome[];
}

interface Figure {
  readonly time: Time;
  readonly name: 'median' | 'p99';
  /** Milliseconds; null if it is only reported. */
  readonly targetMs: (condition: string) => number | null;
  /** The target is also that of all results. */
  readonly alsoUncertain?: true;
}

const SHARES = { median: 0.5, p99: 0.99 } as const;
const AT_MOST = { of: 'value', bound: 'at most' } as const;
const always = (targetMs: number) => () => targetMs;
const FIGURES: readonly Figure[] = [
  { time: 'tcp', name: 'median', targetMs: always(0.1) },
  { time: 'tcp', name: 'p99', targetMs: always(1.5) },
  { time: 'dns', name: 'median', targetMs: always(0.1) },
  { time: 'dns', name: 'p99', targetMs: always(1.5) },
  { time: 'firstByte', name: 'p99', targetMs: always(5), alsoUncertain: true },
  { time: 'download', name: 'p99', targetMs: () => null },
  { time: 'tls', name: 'p99', targetMs: (condition) => (condition === 'calm' ? 5 : null) },
];
const IN_WORDS: Readonly<Record<Time, string>> = {
  tcp: 'tcp',
  tls: 'tls',
  firstByte: 'firstByte',
  download: 'download',
  dns: 'DNS',
};

export function rowsOf(rounds: Rounds): readonly Measured[] {
  return [...FIGURES.flatMap((figure) => figureRows(rounds, figure)), ...countRows(rounds)];
}

/** Rows for the exact results, then for all results, the uncertain ones included. */
function figureRows(
  { condition, agent, exporter }: Rounds,
  { time, name, targetMs, alsoUncertain }: Figure,
): readonly Measured[] {
  const of = (which: keyof Errors, outcomes: readonly Outcome[]): number[] =>
    outcomes.map(({ errors }) => quantile(errors[which][time], SHARES[name]));
  const measure = `Error of ${IN_WORDS[time]}, ${name}, ${condition}`;
  const others = of('all', exporter);
  const beside = others.some(Number.isNaN)
    ? {}
    : { beside: { name: 'blackbox exporter', values: others } };
  const number = targetMs(condition);
  const target = number === null ? {} : { target: { ...AT_MOST, number } };
  const exact = { measure, values: of('exact', agent), unit: 'ms', ...beside, ...target };
  const ofAll = { measure: `${measure}, uncertain ones too`, values: of('all', agent), unit: 'ms' };
  const all = { ...ofAll, ...beside, ...(alsoUncertain === true ? target : {}) };
  // An agent that is short of CPU may have no exact result in a round.
  return [exact, ...(name === 'median' ? [] : [all])].filter(
    ({ values }) => !values.some(Number.isNaN),
  );
}

function countRows({ condition, agent }: Rounds): readonly Measured[] {
  const percent = (part: number, whole: number): number => (100 * part) / Math.max(1, whole);
  return [
    {
      measure: `Uncertain results, ${condition}`,
      values: agent.map(({ uncertain, due, missed }) => percent(uncertain, due - missed)),
      unit: '%',
    },
    {
      measure: `Slots missed, ${condition}`,
      values: agent.map(({ missed, due }) => percent(missed, due)),
      unit: '%',
    },
  ];
}
