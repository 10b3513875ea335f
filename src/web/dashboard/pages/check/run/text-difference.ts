/** The difference of two texts: their common start and end, and the parts between. */
export interface TextDifference {
  readonly before: string;
  readonly one: string;
  readonly other: string;
  readonly after: string;
}

export function differenceOf(one: string, other: string): TextDifference {
  const [first, second] = [[...one], [...other]];
  const { from, fromEnd } = commonEnds(first, second);
  return {
    before: first.slice(0, from).join(''),
    one: first.slice(from, first.length - fromEnd).join(''),
    other: second.slice(from, second.length - fromEnd).join(''),
    after: first.slice(first.length - fromEnd).join(''),
  };
}

function commonEnds<Item>(
  one: readonly Item[],
  other: readonly Item[],
): { readonly from: number; readonly fromEnd: number } {
  const most = Math.min(one.length, other.length);
  let from = 0;
  while (from < most && one[from] === other[from]) from += 1;
  let fromEnd = 0;
  while (fromEnd < most - from && one.at(-1 - fromEnd) === other.at(-1 - fromEnd)) fromEnd += 1;
  return { from, fromEnd };
}

/** A line of one text, and whether the other one has it there, too. */
export interface ComparedLine {
  readonly text: string;
  readonly isShared: boolean;
}

/** Lines that are the same and far from the first and last difference are left out. */
const CONTEXT_LINES = 3;

/** Two texts line by line; null if they are the same. */
export function comparedLines(
  one: string,
  other: string,
): { readonly one: readonly ComparedLine[]; readonly other: readonly ComparedLine[] } | null {
  if (one === other) return null;
  const [first, second] = [one.split('\n'), other.split('\n')];
  const { from, fromEnd } = commonEnds(first, second);
  const part = (all: readonly string[]): readonly ComparedLine[] => {
    const end = all.length - fromEnd;
    return all
      .map((text, index) => ({ text, isShared: index < from || index >= end }))
      .slice(Math.max(0, from - CONTEXT_LINES), end + CONTEXT_LINES);
  };
  return { one: part(first), other: part(second) };
}
