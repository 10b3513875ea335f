/** Colours by their meaning. */
export interface Palette {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warning: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly strong: (text: string) => string;
}

const plain = (text: string): string => text;

/** SGR parameters: ECMA-48 8.3.117. */
const sgr =
  (on: number, off: number) =>
  (text: string): string =>
    `\u001b[${on}m${text}\u001b[${off}m`;

const PLAIN: Palette = { good: plain, bad: plain, warning: plain, faint: plain, strong: plain };
const COLOURED: Palette = {
  good: sgr(32, 39),
  bad: sgr(31, 39),
  warning: sgr(33, 39),
  faint: sgr(2, 22),
  strong: sgr(1, 22),
};

export function paletteFor(coloured: boolean): Palette {
  return coloured ? COLOURED : PLAIN;
}

/**
 * Whether to colour output to the stream. FORCE_COLOR decides first (0 and false switch colours off), then
 * NO_COLOR (any value switches them off); otherwise only a terminal that is not `dumb` gets colours.
 */
export function wantsColour(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  const force = env.FORCE_COLOR;
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false';
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  return stream.isTTY === true && env.TERM !== 'dumb';
}
