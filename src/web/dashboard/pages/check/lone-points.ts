/**
 * The positions of values without a known neighbour: a line between two points shows all others, and nothing
 * of these.
 */
export function lonePoints(values: readonly (number | null | undefined)[]): number[] {
  const isKnown = (at: number): boolean => (values[at] ?? null) !== null;
  return [...values.keys()].filter((at) => isKnown(at) && !isKnown(at - 1) && !isKnown(at + 1));
}
