import { WORD, wordForms } from './words.ts';

const EXCERPT_CHARS = 260;
/** The most characters of an excerpt before the first match. */
const LEAD_CHARS = 60;

export interface ExcerptPart {
  readonly text: string;
  readonly isMatch: boolean;
}

/**
 * A part of the text around its first match.
 *
 * @param forms the words to mark, in lower case
 */
export function excerptOf(text: string, forms: ReadonlySet<string>): readonly ExcerptPart[] {
  const matches = [...text.matchAll(WORD)].filter(([word]) =>
    wordForms(word).some((form) => forms.has(form)),
  );
  const first = matches[0]?.index ?? 0;
  const from = first <= LEAD_CHARS ? 0 : text.indexOf(' ', first - LEAD_CHARS) + 1;
  const to = endOf(text, from + EXCERPT_CHARS);
  const parts: ExcerptPart[] = from === 0 ? [] : [{ text: '… ', isMatch: false }];
  let at = from;
  for (const { index, 0: word } of matches) {
    if (index < at || index + word.length > to) continue;
    if (index > at) parts.push({ text: text.slice(at, index), isMatch: false });
    parts.push({ text: word, isMatch: true });
    at = index + word.length;
  }
  const end = `${text.slice(at, to)}${to < text.length ? ' …' : ''}`;
  return end === '' ? parts : [...parts, { text: end, isMatch: false }];
}

/** The last space before the limit if it is near; otherwise the limit, or the end of a shorter text. */
function endOf(text: string, limit: number): number {
  if (text.length <= limit) return text.length;
  const space = text.lastIndexOf(' ', limit);
  return space > limit - LEAD_CHARS ? space : limit;
}
