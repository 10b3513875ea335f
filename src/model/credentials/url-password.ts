/**
 * Up to the user of a URL, its password, and the `@` after it. The scheme may be in a template:
 * `{{BASE}}`, `{{SCHEME}}://`. The parser of URLs takes `\` for `/`, and any number of them.
 */
const USERINFO = /^((?:[^/?#\\@]*:[/\\]+|\{{2,3}[^{}]*\}{2,3})?[^/?#\\:]*:)([^/?#\\]*)(@[^/?#\\]*)/;

/** The password in a URL as it is written there; null where it has none. */
export function urlPasswordOf(text: string): string | null {
  return partsOf(text)?.password ?? null;
}

/** The URL with another password; the same text where it has none. */
export function mapUrlPassword(text: string, map: (password: string) => string): string {
  const parts = partsOf(text);
  if (parts === null) return text;
  return `${parts.before}${map(parts.password)}${parts.after}`;
}

interface Parts {
  readonly before: string;
  readonly password: string;
  readonly after: string;
}

function partsOf(text: string): Parts | null {
  if (!text.includes('@')) return null;
  const written = split(text);
  if (written !== null || !URL.canParse(text)) return written;
  // Written so that only the parser finds it, for example with a line break in the scheme.
  const { href, password } = new URL(text);
  return password === '' ? null : split(href);
}

function split(text: string): Parts | null {
  const match = USERINFO.exec(text);
  if (match === null) return null;
  const [whole, before = '', password = '', host = ''] = match;
  return { before, password, after: `${host}${text.slice(whole.length)}` };
}
