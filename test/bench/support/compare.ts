import type { Measured, PartContext, Target } from '../part.ts';

/** Does the work in one way once, and returns the figures. */
export type Measurement = () => Promise<Readonly<Record<string, number>>>;

/**
 * Measures each kind once a round, one directly after the other so that they see the same
 * machine, in the opposite order every second round.
 *
 * @returns the figures of each kind, by round
 */
export async function measureInTurns<Kind extends string>(
  kinds: Readonly<Record<Kind, Measurement>>,
  { rounds, progress, signal }: PartContext,
): Promise<(kind: Kind, figure: string) => readonly number[]> {
  const names = Object.keys(kinds) as Kind[];
  const measured = new Map<Kind, Readonly<Record<string, number>>[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      signal.throwIfAborted();
      progress(`round ${round + 1} of ${rounds}, ${name}`);
      const figures = await kinds[name]();
      const before = measured.get(name) ?? [];
      // Indexed by round, whatever the order within a round.
      measured.set(name, [...before, figures]);
    }
  }
  return (kind, figure) =>
    (measured.get(kind) ?? []).map((figures) => figures[figure] ?? Number.NaN);
}

/** The target that a ratio is at most this number. */
export const atMost = (number: number): Target => ({ of: 'ratio', bound: 'at most', number });

/** A measure, compared with the same figure of another tool. */
export function beside(
  measure: string,
  unit: string,
  values: readonly number[],
  other: { readonly name: string; readonly values: readonly number[] },
  target?: Target,
): Measured {
  return { measure, values, unit, beside: other, ...(target === undefined ? {} : { target }) };
}
