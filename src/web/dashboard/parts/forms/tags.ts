/**
 * Tags as a text of one line, separated by commas. Tags that contain a comma or a quotation mark, or begin or end
 * with a space, are in quotation marks, as in CSV.
 */
export function tagsText(tags: readonly string[]): string {
  return tags.map((tag) => (needsQuotes(tag) ? `"${tag.replaceAll('"', '""')}"` : tag)).join(', ');
}

function needsQuotes(tag: string): boolean {
  return /[",]/.test(tag) || tag !== tag.trim();
}

/** Matches texts of `tagsText` and texts that are still being typed: a closing quotation mark may be missing. */
const PART = /\s*(?:"((?:[^"]|"")*)(?:"\s*|$)([^,]*)|([^,]*))(?:,|$)/gy;

/** The tags of such a text, in its order. */
export function tagsIn(text: string): string[] {
  const tags: string[] = [];
  for (const [, quoted, after = '', plain = ''] of text.matchAll(PART)) {
    const tag =
      quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"') + after.trimEnd();
    if (tag !== '') tags.push(tag);
  }
  return tags;
}

/** The hint of a field for such a text. */
export const TAGS_HINT = 'Separated by commas. A tag with a comma is in quotation marks: "a, b".';
