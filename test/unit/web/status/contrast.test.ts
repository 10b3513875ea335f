import { describe, expect, it } from 'vitest';
import { statusPageSchema } from '../../../../src/model/status-page/status-page.ts';
import { styleOf } from '../../../../src/web/status/style.ts';

type Rgb = readonly [number, number, number];

/** WCAG 2.2: 1.4.3 of text, 1.4.11 of icons, bars and the borders of fields. */
const TEXT = 4.5;
const GRAPHICS = 3;

const STATES = ['ok', 'warn', 'part', 'fail', 'work', 'unknown'];
/** `.now`: the background of the sentence at the top. */
const TINTS = STATES.map((state) => ['mix', state] as const);

/** A custom property, or the tint of a state. */
type Ground = string | readonly ['mix', string];

/** Which colours the style puts on which backgrounds. */
const PAIRS: readonly (readonly [foreground: string, grounds: readonly Ground[], least: number])[] =
  [
    ['ink', ['bg', 'card', ...TINTS], TEXT],
    ['title', ['bg', 'card', ...TINTS], TEXT],
    ['muted', ['bg', 'card'], TEXT],
    ['link', ['bg', 'card'], TEXT],
    ['head-ink', ['head'], TEXT],
    ['nav', ['head'], TEXT],
    ['button-ink', ['button'], TEXT],
    // The button as a shape, on the page and on a card.
    ['button', ['head', 'card'], GRAPHICS],
    ...STATES.map((state) => [state, ['card'], TEXT] as const),
    ...STATES.map((state) => [state, [['mix', state] as const], GRAPHICS] as const),
    // Days with a problem. Days without one have low contrast: the text beside says the same.
    ...['warn', 'part', 'fail', 'work'].map(
      (state) => [`${state}-bar`, ['card'], GRAPHICS] as const,
    ),
  ];
/** Colours without information: frames, and the bars of days without a problem. */
const DECORATION = ['line', 'ok-bar', 'unknown-bar'];

const { themeColors } = statusPageSchema.pick({ themeColors: true }).parse({});
const css = styleOf({ themeColors, defaultTheme: 'AUTO' });

/** The custom properties of a theme, without their dashes. */
function propertiesOf(theme: 'light' | 'dark'): ReadonlyMap<string, Rgb> {
  const [block = ''] = css.match(new RegExp(`:root\\{[^}]*color-scheme:${theme}[^}]*\\}`)) ?? [];
  const found = block.matchAll(/--([a-z-]+):(#[0-9a-f]{6})/g);
  return new Map([...found].map(([, name = '', hex = '']) => [name, rgbOf(hex)]));
}

function rgbOf(hex: string): Rgb {
  const at = (start: number) => Number.parseInt(hex.slice(start, start + 2), 16);
  return [at(1), at(3), at(5)];
}

/** WCAG 2.2, "relative luminance". */
function luminanceOf(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: Rgb, other: Rgb): number {
  const [dark = 0, light = 0] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

describe.each(['light', 'dark'] as const)('the default colours of the %s theme', (theme) => {
  const colors = propertiesOf(theme);

  function colorOf(name: string): Rgb {
    const color = colors.get(name);
    if (color === undefined) throw new Error(`the style has no property --${name}`);
    return color;
  }

  /** Mixes the colour as the rule of `.now` does. */
  function groundOf(ground: Ground): Rgb {
    if (typeof ground === 'string') return colorOf(ground);
    const [, percent = ''] =
      /\.now\{[^}]*background:color-mix\(in srgb,var\(--state\) (\d+)%,var\(--card\)\)/.exec(css) ??
      [];
    const share = Number(percent) / 100;
    const [state, card] = [colorOf(ground[1]), colorOf('card')];
    const mixed = state.map((value, index) => value * share + (card[index] ?? 0) * (1 - share));
    return [mixed[0] ?? 0, mixed[1] ?? 0, mixed[2] ?? 0];
  }

  it('can be distinguished by readers with low vision (WCAG 2.2 AA)', () => {
    const low = PAIRS.flatMap(([name, grounds, least]) =>
      grounds.flatMap((ground) => {
        const ratio = contrast(colorOf(name), groundOf(ground));
        return ratio >= least ? [] : [`--${name} on ${ground}: ${ratio.toFixed(2)} < ${least}`];
      }),
    );
    expect(low).toEqual([]);
  });

  it('are all compared with their backgrounds', () => {
    const compared = PAIRS.flatMap(([name, grounds]) => [name, ...grounds]);
    const forgotten = [...colors.keys()].filter(
      (name) => !compared.includes(name) && !DECORATION.includes(name),
    );
    expect(colors.size).toBeGreaterThan(20);
    expect(forgotten).toEqual([]);
  });
});
