/** Also matches the halves of surrogate pairs, which the second pass does not replace. */
const UNSTORABLE = /[\0\ud800-\udfff]/;

/**
 * Replaces what PostgreSQL cannot store in a text, U+0000 and lone surrogates, by U+FFFD. The length
 * stays the same.
 */
export function storableText(text: string): string {
  // Few texts have one, and the two passes would take most of the time of reading a result.
  if (!UNSTORABLE.test(text)) return text;
  return text.replaceAll('\0', '\ufffd').replaceAll(/\p{Surrogate}/gu, '\ufffd');
}
