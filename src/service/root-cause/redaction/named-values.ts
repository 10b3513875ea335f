import { isSensitiveHeader } from '../../../model/credentials/sensitive-headers.ts';

/** The position of a value in a text. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
}

const SENSITIVE_END =
  /(?:pass|passwd|password|passphrase|pwd|secret|token|apikey|key|credentials?|auth|signature|sig|jwt|pin|otp|dsn|sid|cookie)$/;
/** Names whose values extend to the end of the line. */
const WHOLE_LINE = /^(?:proxy-)?authorization$|cookie/i;

/** Whether a field, a header or a parameter of that name usually contains a secret. */
export function isSensitiveName(name: string): boolean {
  const word = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  return SENSITIVE_END.test(word) || isSensitiveHeader(name);
}

const NAME =
  /([A-Za-z][\w.-]{0,63})((?:\\{0,15}["'])?[ \t]{0,8}[:=][ \t\r\n]{0,8})(\\{0,15}["'])?/g;

/**
 * Finds the values of fields with sensitive names in JSON (also escaped), forms, headers and assignments:
 * `"token": "…"`, `password=…`, `Cookie: …`.
 */
export function sensitiveSpans(text: string): readonly TextRange[] {
  const spans: TextRange[] = [];
  for (const match of text.matchAll(NAME)) {
    const [whole, name = '', , quote] = match;
    if (!isSensitiveName(name)) continue;
    const from = match.index + whole.length;
    spans.push({ from, to: endOf(text, from, name, quote ?? null) });
  }
  return spans;
}

function endOf(text: string, from: number, name: string, quote: string | null): number {
  if (quote !== null) {
    const end = endOfQuoted(text, from, quote);
    if (end !== null) return end;
  }
  const stop = WHOLE_LINE.test(name) ? /[\r\n"]/g : /[\s"'<>,;&)}\]]/g;
  stop.lastIndex = from;
  return stop.exec(text)?.index ?? text.length;
}

/** The closing quote has no more backslashes before it than the opening one. */
function endOfQuoted(text: string, from: number, quote: string): number | null {
  const mark = quote.slice(-1);
  const depth = quote.length - 1;
  for (let at = text.indexOf(mark, from); at >= 0; at = text.indexOf(mark, at + 1)) {
    let slashes = 0;
    while (slashes <= depth && text[at - 1 - slashes] === '\\') slashes += 1;
    if (slashes <= depth) return Math.max(from, at - slashes);
  }
  return null;
}

/** The values of `sensitiveSpans`. */
export function sensitiveValues(text: string): readonly string[] {
  return sensitiveSpans(text).map(({ from, to }) => text.slice(from, to));
}
