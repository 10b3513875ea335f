import type { Inline, LinkTarget } from '../markdown.ts';

/** The formatting of a text on a terminal; for plain text each function is the identity. */
export interface TextStyle {
  readonly strong: (text: string) => string;
  readonly code: (text: string) => string;
  readonly faint: (text: string) => string;
  /** The text before and after code, so that it can be distinguished without colours. */
  readonly codeMark: string;
}

/** A piece of text in one style. */
export interface Span {
  readonly text: string;
  readonly look: 'plain' | 'strong' | 'code' | 'faint';
}

/** @param topic links to other topics name the command that prints them */
export function spansOf(
  inlines: readonly Inline[],
  topic: string,
  style: TextStyle,
  look: Span['look'] = 'plain',
): readonly Span[] {
  return inlines.flatMap((inline) => spansOfOne(inline, topic, style, look));
}

function spansOfOne(
  inline: Inline,
  topic: string,
  style: TextStyle,
  look: Span['look'],
): readonly Span[] {
  switch (inline.kind) {
    case 'text':
      return [{ text: inline.text, look }];
    case 'code':
      return [{ text: `${style.codeMark}${inline.text}${style.codeMark}`, look: 'code' }];
    case 'strong':
      return spansOf(inline.children, topic, style, 'strong');
    case 'emphasis':
      return spansOf(inline.children, topic, style, look);
    case 'link': {
      const children = spansOf(inline.children, topic, style, look);
      const address = addressText(inline.target, topic);
      const isBare = children.map(({ text }) => text).join('') === address;
      return address === null || isBare
        ? children
        : [...children, { text: ` [${address}]`, look: 'faint' }];
    }
  }
}

/** Null for a link to the topic itself. */
function addressText(target: LinkTarget, topic: string): string | null {
  if (target.kind === 'outside') return target.url;
  return target.topic === topic ? null : `vedette help ${target.topic}`;
}

export function widthOf(spans: readonly Span[]): number {
  return spans.reduce((width, { text }) => width + [...text].length, 0);
}

export function longestWord(spans: readonly Span[]): number {
  return Math.max(0, ...wordsOf(spans).map(widthOf));
}

export function paint(spans: readonly Span[], style: TextStyle): string {
  return spans.map(({ text, look }) => (look === 'plain' ? text : style[look](text))).join('');
}

/** Lines of at most `width` characters. A longer word has a line of its own. */
export function wrap(spans: readonly Span[], width: number): readonly (readonly Span[])[] {
  const lines: Span[][] = [];
  let line: Span[] = [];
  let used = 0;
  for (const word of wordsOf(spans)) {
    const length = widthOf(word);
    if (used > 0 && used + 1 + length > width) {
      lines.push(line);
      [line, used] = [[], 0];
    }
    if (used > 0) {
      // A space between two words of one style has that style, so that a line has few changes.
      const [before, after] = [line.at(-1)?.look, word[0]?.look];
      line.push({ text: ' ', look: before === after && before !== undefined ? before : 'plain' });
      used += 1;
    }
    line.push(...word);
    used += length;
  }
  if (used > 0) lines.push(line);
  return lines.map(joined);
}

/** The words of a text; one word may have several styles. */
function wordsOf(spans: readonly Span[]): readonly (readonly Span[])[] {
  const words: Span[][] = [];
  let isOpen = false;
  for (const { text, look } of spans) {
    for (const part of text.split(/(\s+)/)) {
      if (part === '') continue;
      if (part.trim() === '') {
        isOpen = false;
      } else if (isOpen) {
        words.at(-1)?.push({ text: part, look });
      } else {
        words.push([{ text: part, look }]);
        isOpen = true;
      }
    }
  }
  return words;
}

function joined(spans: readonly Span[]): readonly Span[] {
  const result: Span[] = [];
  for (const span of spans) {
    const last = result.at(-1);
    if (last?.look === span.look)
      result[result.length - 1] = { ...last, text: last.text + span.text };
    else result.push(span);
  }
  return result;
}
