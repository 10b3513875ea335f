/** One letter for each cell: p passed, d degraded, f failed, m missed, n nothing. */
export type CellLetters = string;

const CLASSES: Readonly<Record<string, string>> = {
  p: 'passing',
  d: 'degraded',
  f: 'failing',
  m: 'missed',
  n: 'none',
};

/** The worst state of a cell. */
export function cellLetter(counts: {
  readonly runs: number;
  readonly failures: number;
  readonly degraded: number;
  readonly missed: number;
}): string {
  if (counts.failures > 0) return 'f';
  if (counts.degraded > 0) return 'd';
  if (counts.runs > 0) return 'p';
  return counts.missed > 0 ? 'm' : 'n';
}

/** Joins adjacent cells of one kind: a day without a change is one shape, which keeps long lists fast. */
function runsOf(letters: CellLetters): readonly { letter: string; from: number; length: number }[] {
  return [...letters.matchAll(/(.)\1*/g)].map(({ 0: run, 1: letter = 'n', index }) => ({
    letter,
    from: index,
    length: run.length,
  }));
}

/** A strip of cells: the last 24 hours in quarters of an hour, the current one last. */
export function Cells({
  letters,
  label,
}: {
  readonly letters: CellLetters;
  /** In words, for example `last 24 hours: failed in 2 of 96 quarters of an hour`. */
  readonly label: string;
}) {
  const { length } = letters;
  return (
    <svg
      class="cells"
      viewBox={`0 0 ${length * 4} 20`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {runsOf(letters).map(({ letter, from, length: cells }) => (
        <path
          key={from}
          class={CLASSES[letter] ?? 'none'}
          d={Array.from({ length: cells }, (_, cell) => `M${(from + cell) * 4} 0h3v20h-3z`).join(
            '',
          )}
        />
      ))}
    </svg>
  );
}

/** Describes a strip in words. */
export function cellsLabel(letters: CellLetters): string {
  const of = (letter: string): number => letters.split(letter).length - 1;
  const facts = [
    [of('f'), 'failed'],
    [of('d'), 'degraded'],
    [of('m'), 'missed'],
  ] as const;
  const parts = facts
    .filter(([number]) => number > 0)
    .map(([number, word]) => `${word} in ${number}`);
  if (parts.length > 0)
    return `Last 24 hours: ${parts.join(', ')} of ${letters.length} quarter-hours`;
  return of('p') > 0 ? 'Last 24 hours: all runs passed' : 'Last 24 hours: no runs';
}
