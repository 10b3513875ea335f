import { median, quantile } from '../../../bench/row.ts';
import type { Census, Sample } from './sampler.ts';

/** The allowed growth of a series: a share, and an absolute amount. */
export interface Tolerance {
  readonly share: number;
  readonly plus: number;
}

export interface Rule extends Tolerance {
  /** Series that explain some growth: this many per unit of their growth are no leak. */
  readonly besides?: readonly { readonly series: string; readonly each: number }[];
}

/** The samples of one process, in order. */
export interface Series {
  readonly name: string;
  readonly samples: readonly Sample[];
}

/** The first third is warm-up; then compares the next quarter with the last one. */
function parts(samples: readonly Sample[]) {
  const third = Math.ceil(samples.length / 3);
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  return { early: samples.slice(third, third + quarter), late: samples.slice(-quarter) };
}

/** A sentence for each series that is not flat: empty if all is well. */
export function growthIn(
  { name, samples }: Series,
  rules: Readonly<Record<string, Rule>>,
): readonly string[] {
  return Object.entries(rules).flatMap(([series, rule]) => {
    const ends = (which: string) => mediansOf(samples, which);
    const [before, after] = ends(series);
    const most = before * (1 + rule.share) + mostGrowth(rule, ends);
    if (after <= most) return [];
    const numbers = `${shown(before)} after the warm-up, ${shown(after)} at the end`;
    return [`${name}, ${series}: ${numbers}, which is more than ${shown(most)}`];
  });
}

function mediansOf(samples: readonly Sample[], series: string): readonly [number, number] {
  const { early, late } = parts(samples);
  const of = (some: readonly Sample[]): number =>
    median(some.map((sample) => sample[series] ?? Number.NaN));
  return [of(early), of(late)];
}

/** In absolute numbers; `ends` has the first and the last level of a series. */
function mostGrowth(
  { plus, besides = [] }: Rule,
  ends: (series: string) => readonly [number, number],
): number {
  const explained = besides.map(({ series, each }) => {
    const [before, after] = ends(series);
    return Math.max(0, after - before) * each;
  });
  return explained.reduce((sum, some) => sum + some, plus);
}

/** Live objects at one moment, and the sample taken just before. */
export interface Counted {
  readonly census: Census;
  readonly sample: Sample;
}

/** The same for counts of live objects, once after the warm-up and once at the end. */
export function growthOf(
  name: string,
  [before, after]: readonly [Counted, Counted],
  rules: Readonly<Record<keyof Census, Rule>>,
): readonly string[] {
  return (Object.keys(rules) as (keyof Census)[]).flatMap((kind) => {
    const most = mostGrowth(rules[kind], (series) => [
      before.sample[series] ?? Number.NaN,
      after.sample[series] ?? Number.NaN,
    ]);
    const [early, late] = [before.census[kind], after.census[kind]];
    if (late - early <= most) return [];
    const numbers = `${early} after the warm-up, ${late} at the end`;
    return [`${name}, living ${kind}: ${numbers}, which is more than ${shown(most)} more`];
  });
}

/**
 * A table of all series: the values at the start, after the warm-up and at the end, and the
 * maximum.
 */
export function summaryOf({ name, samples }: Series): string {
  const { early, late } = parts(samples);
  const rows = Object.keys(samples[0] ?? {}).map((series) => {
    const of = (some: readonly Sample[]): number[] =>
      some.map((sample) => sample[series] ?? Number.NaN);
    const numbers = [
      of(samples)[0] ?? Number.NaN,
      median(of(early)),
      median(of(late)),
      quantile(of(samples), 1),
    ];
    return `  ${series.padEnd(44)}${numbers.map((number) => shown(number).padStart(12)).join('')}`;
  });
  const head = ['first', 'warmed up', 'end', 'largest'].map((word) => word.padStart(12)).join('');
  return [`${name.padEnd(46)}${head}`, ...rows].join('\n');
}

/** Every sample of every series, if one is not flat. */
export function allOf({ name, samples }: Series): string {
  const rows = Object.keys(samples[0] ?? {}).map(
    (series) =>
      `  ${series}: ${samples.map((sample) => shown(sample[series] ?? Number.NaN)).join(' ')}`,
  );
  return [`${name}, every sample`, ...rows].join('\n');
}

function shown(number: number): string {
  return Number.isInteger(number) ? String(number) : number.toFixed(2);
}
