import { MASK } from './mask.ts';

/** Characters that the URL parser removes. */
const LEFT_OUT = /[\t\n\r]/g;

/**
 * The part before the user of a URL, its user, its password, and the rest of the authority from the
 * `@` on. The scheme may be in a template: `{{BASE}}`, `{{SCHEME}}://`. The URL parser takes `\`
 * for `/`, and any number of them.
 */
const USERINFO =
  /^([^/?#\\@]*:[/\\]+|\{{2,3}[^{}]*\}{2,3})?([^/?#\\:]*)(?::([^/?#\\]*))?(@[^/?#\\]*)/;

/** Beside a password, the user name is a word like `monitor`; alone it is a token. */
export type SecretPart = 'password' | 'username';

export interface UrlSecret {
  readonly part: SecretPart;
  /** As it is written in the URL. */
  readonly text: string;
  /** The user name if there is a password, otherwise empty. */
  readonly username: string;
}

/** The secret before the host of a URL; null if there is none. */
export function urlSecretOf(text: string): UrlSecret | null {
  return partsOf(text)?.secret ?? null;
}

/** The URL with its secret mapped; the same text if it has none. */
export function mapUrlSecret(
  text: string,
  map: (secret: string, part: SecretPart) => string,
): string {
  const parts = partsOf(text);
  if (parts === null) return text;
  const { before, secret, after } = parts;
  return `${before}${map(secret.text, secret.part)}${after}`;
}

/**
 * The URL as it may be shown: user and password replaced by a mask, also where the URL parser
 * cannot find them because of templates.
 */
export function maskUserinfo(text: string): string {
  if (!text.includes('@')) return text;
  const match = USERINFO.exec(text) ?? USERINFO.exec(text.replace(LEFT_OUT, ''));
  if (match !== null) {
    const [whole, start = '', , , host = ''] = match;
    const at = host.lastIndexOf('@');
    return `${start}${MASK}${host.slice(at)}${match.input.slice(whole.length)}`;
  }
  if (!URL.canParse(text)) return text;
  const { href, username, password } = new URL(text);
  return username === '' && password === '' ? text : maskUserinfo(href);
}

interface Parts {
  readonly before: string;
  readonly secret: UrlSecret;
  readonly after: string;
}

function partsOf(text: string): Parts | null {
  if (!text.includes('@')) return null;
  const written = split(text) ?? split(text.replace(LEFT_OUT, ''));
  if (written !== null || !URL.canParse(text)) return written;
  // Only the URL parser finds the user and password in this form.
  const { href, username, password } = new URL(text);
  return username === '' && password === '' ? null : split(href);
}

function split(text: string): Parts | null {
  const match = USERINFO.exec(text);
  if (match === null) return null;
  const [whole, start, username = '', password = '', host = ''] = match;
  const after = `${host}${text.slice(whole.length)}`;
  if (password !== '') {
    const before = `${start ?? ''}${username}:`;
    return { before, secret: { part: 'password', text: password, username }, after };
  }
  // Without a scheme the text is no URL, and its apparent user may be the scheme.
  if (start === undefined || username === '') return null;
  const rest = text.slice(start.length + username.length);
  return { before: start, secret: { part: 'username', text: username, username: '' }, after: rest };
}
