/**
 * The positions of values without a known neighbour. A line between points does not show them.
 */
export function lonePoints(values: readonly (number | null | undefined)[]): number[] {
  const isKnown = (at: number): boolean => (values[at] ?? null) !== null;
  return [...values.keys()].filter((at) => isKnown(at) && !isKnown(at - 1) && !isKnown(at + 1));
}
