import { xmlText } from '../feeds/markup.ts';

/** White text on each has a contrast of at least 4.5 : 1 (WCAG 2.2, 1.4.3), in light and dark pages. */
export const BADGE_COLORS = {
  green: '#1a7f37',
  yellow: '#8a6100',
  orange: '#b64a00',
  red: '#cf222e',
  blue: '#0969da',
  gray: '#57606a',
} as const;
export type BadgeColor = keyof typeof BADGE_COLORS;

export interface Badge {
  /** The first part of the label, if it may be long; it is cut first. */
  readonly name?: string;
  readonly label: string;
  readonly value: string;
  readonly color: BadgeColor;
}

const LABEL_COLOR = '#3d444d';
const HEIGHT = 20;
const FONT_SIZE = 11;
const PADDING = 6;
const MAX_CHARS = 64;
const MAX_NAME_CHARS = 48;
/** Widths of characters in a sans-serif font of 11 px. */
const WIDTHS: readonly (readonly [RegExp, number])[] = [
  [/[ijl.,:;'|!\u0131]/u, 3.4],
  [/[fIrt()[\] /-]/u, 4.6],
  [/[mwMW%@]/u, 10.4],
  [/[A-Z]/u, 7.8],
  // Emoji, and the scripts whose characters are as wide as high.
  [
    /[\p{Extended_Pictographic}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u,
    11.5,
  ],
  [/\p{Mark}/u, 0],
];
const OTHER_WIDTH = 6.8;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** An SVG picture in the usual form of badges, whose title is the text for screen readers. */
export function badgeSvg(badge: Badge): string {
  const subject = badge.name === undefined ? '' : `${shown(badge.name, MAX_NAME_CHARS)} `;
  const label = `${subject}${shown(badge.label, MAX_CHARS)}`;
  const value = shown(badge.value, MAX_CHARS);
  const [labelWidth, valueWidth] = [widthOf(label), widthOf(value)];
  const left = Math.round(labelWidth) + 2 * PADDING;
  const width = left + Math.round(valueWidth) + 2 * PADDING;
  const title = xmlText(`${label}: ${value}`);
  // textLength keeps the text within its box in any font.
  const text = (middle: number, length: number, content: string): string =>
    `<text x="${middle}" y="14" textLength="${Math.round(length)}" lengthAdjust="spacingAndGlyphs">${xmlText(content)}</text>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-label="${title}">` +
    `<title>${title}</title><clipPath id="c"><rect width="${width}" height="${HEIGHT}" rx="3"/></clipPath>` +
    `<g clip-path="url(#c)"><rect width="${left}" height="${HEIGHT}" fill="${LABEL_COLOR}"/>` +
    `<rect x="${left}" width="${width - left}" height="${HEIGHT}" fill="${BADGE_COLORS[badge.color]}"/></g>` +
    `<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="${FONT_SIZE}">` +
    `${text(left / 2, labelWidth, label)}${text(left + (width - left) / 2, valueWidth, value)}</g></svg>`
  );
}

/** On one line, with at most `maxChars` characters as readers see them. */
function shown(text: string, maxChars: number): string {
  const line = text.replaceAll(/\s+/gu, ' ').trim();
  const chars = [...graphemes.segment(line.slice(0, maxChars * 8))].map(({ segment }) => segment);
  return chars.length <= maxChars ? line : `${chars.slice(0, maxChars - 1).join('')}…`;
}

/** In pixels, roughly. */
function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    // Combining characters have no width of their own.
    const [char = ''] = segment;
    width += WIDTHS.find(([pattern]) => pattern.test(char))?.[1] ?? OTHER_WIDTH;
  }
  return Math.max(width, 1);
}
