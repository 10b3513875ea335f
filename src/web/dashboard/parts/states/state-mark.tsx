import { STATE_SHAPES } from '../icons.tsx';

export type MarkedState = keyof typeof STATE_SHAPES;

const WORDS: Readonly<Record<MarkedState, string>> = {
  failing: 'Failing',
  degraded: 'Degraded',
  passing: 'Passing',
  unknown: 'Unknown',
  paused: 'Paused',
};

/** A state as a shape, a word and a colour. */
export function StateMark({
  state,
  word = WORDS[state],
}: {
  readonly state: MarkedState;
  /** Instead of the name of the state, such as `No agent`. */
  readonly word?: string;
}) {
  return (
    <span class={`state ${state}`}>
      <svg viewBox="0 0 14 14" aria-hidden="true">
        {STATE_SHAPES[state]}
      </svg>
      {word}
    </span>
  );
}
