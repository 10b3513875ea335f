import { cutText } from '../../../../runtime/text/cut-text.ts';
import type { FactRow, MessageFacts } from '../message-facts.ts';

const MARK = '…';

/** At most `maxChars` UTF-16 units, the ellipsis of a cut text included. */
export function fitChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, maxChars - MARK.length).replace(/[\ud800-\udbff]$/, '')}${MARK}`;
}

/** At most `maxBytes` of UTF-8, the ellipsis of a cut text included. */
export function fitBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  return `${cutText(text, maxBytes - Buffer.byteLength(MARK))}${MARK}`;
}

/**
 * The escaped text with at most `maxChars` UTF-16 units. Cuts no escape.
 *
 * @param escaped escapes each character independently of the others
 */
export function fitEscaped(
  text: string,
  maxChars: number,
  escaped: (text: string) => string,
): string {
  const whole = escaped(text);
  if (whole.length <= maxChars) return whole;
  let taken = '';
  for (const character of text) {
    const next = escaped(character);
    if (taken.length + next.length > maxChars - MARK.length) break;
    taken += next;
  }
  return `${taken}${MARK}`;
}

/** CommonMark 2.4: a backslash makes any ASCII punctuation literal. Escapes what can begin markup. */
export function markdownEscaped(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]()<>#+!|~]/g, '\\$&');
}

/** Text without any markup: the error first, then where to acknowledge, then a line for each fact. */
export function plainTextOf({
  error,
  rows,
  acknowledgeLink,
}: Pick<MessageFacts, 'error' | 'rows' | 'acknowledgeLink'>): string {
  const lines = rows.map(([label, value]) => `${label}: ${value}`);
  const link = acknowledgeLink === null ? [] : [`Acknowledge: ${acknowledgeLink}`];
  return [...(error === null ? [] : [error]), ...link, ...lines].join('\n');
}

/** The rows, with their values cut to `maxChars`. */
export function shortRows(rows: readonly FactRow[], maxChars: number): readonly FactRow[] {
  return rows.map(([label, value]) => [label, fitChars(value, maxChars)]);
}

/**
 * A message whose JSON has at most `maxBytes`. Leaves out as many of the last rows, which are the least important, as
 * needed.
 */
export function fittingMessage(
  rows: readonly FactRow[],
  maxBytes: number,
  make: (rows: readonly FactRow[]) => object,
): object {
  let shown = rows;
  for (;;) {
    const message = make(shown);
    const isFitting = Buffer.byteLength(JSON.stringify(message)) <= maxBytes;
    if (isFitting || shown.length === 0) return message;
    shown = shown.slice(0, -1);
  }
}
