const MAX_CHARS = 500;
/** Browsers read a backslash as a slash, and drop tabs and line breaks. */
const WITHIN = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/;

/** A path below that of a page, such as `/history`; empty for the page, and for anything else. */
export function pathWithin(given: string): string {
  const isBelow = WITHIN.test(given) && given.length <= MAX_CHARS;
  return isBelow && !/^\/access(?![^?])/.test(given) ? given : '';
}
