const COMMON_WORDS = new Set([
  ...[
    'a',
    'an',
    'and',
    'are',
    'as',
    'at',
    'be',
    'by',
    'can',
    'do',
    'does',
    'for',
    'from',
    'how',
    'i',
  ],
  ...['if', 'in', 'is', 'it', 'its', 'my', 'of', 'on', 'or', 'that', 'the', 'this', 'to', 'what'],
  ...['when', 'where', 'which', 'why', 'will', 'with'],
]);

/** A word or a name, such as RETENTION_DAYS. */
export const WORD = /[\p{L}\p{N}_]+/gu;

/** Ignores words that are in every section, unless the query has no others. */
export function queryWords(query: string): readonly string[] {
  const words = [...new Set(query.toLowerCase().match(WORD) ?? [])];
  const telling = words.filter((word) => !COMMON_WORDS.has(word));
  return telling.length > 0 ? telling : words;
}

/** The number of occurrences of each word in a text, in all its forms. */
export function countWords(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [word] of text.matchAll(WORD)) {
    for (const form of wordForms(word)) counts.set(form, (counts.get(form) ?? 0) + 1);
  }
  return counts;
}

/** A word, and the parts of a name such as RETENTION_DAYS or maxResponseTime, in lower case. */
export function wordForms(word: string): readonly string[] {
  const parts = word.split(/_|(?<=[a-z])(?=[A-Z])/).filter((part) => part !== '');
  return [...new Set([word, ...parts].map((part) => part.toLowerCase()))];
}

/** The common start of related words, such as rotate, rotates, rotated, rotating and rotation. */
export function stemOf(word: string): string {
  const singular = word.replace(/ies$/, 'y').replace(/(?<=\w{3})s$/, '');
  return singular.replace(/(?<=\w{4})(?:ing|ed|ion|e)$/, '');
}
