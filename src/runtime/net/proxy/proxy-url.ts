import { percentDecoded } from '../../text/percent-decoded.ts';
import { endpointText, withoutBrackets } from '../endpoint-text.ts';

export interface HttpProxy {
  /** Scheme, host and port, for messages: never the credentials. */
  readonly shown: string;
  /** The connection to the proxy itself uses TLS. */
  readonly isTls: boolean;
  /** Without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** For Proxy-Authorization; null if the URL has no credentials. A secret. */
  readonly authorization: string | null;
  /** The password or token, and the credentials as they are sent. */
  readonly secrets: readonly string[];
}

/**
 * Reads the URL of an HTTP proxy: http or https; a bare `host:port` means http. User and password
 * in it are percent-decoded (RFC 3986 2.1) and sent as Basic credentials (RFC 7617, with UTF-8).
 *
 * @returns null if the text is not such a URL. A path is refused, too: it results from a `/` in a password
 *   that is not written as %2F
 */
export function parseProxy(text: string): HttpProxy | null {
  const whole = text.includes('://') ? text : `http://${text}`;
  if (!/^https?:\/\/[^/]/i.test(whole) || !URL.canParse(whole)) return null;
  const url = new URL(whole);
  if (url.pathname !== '/' || /[?#]/.test(whole)) return null;
  const isTls = url.protocol === 'https:';
  const hostname = withoutBrackets(url.hostname);
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port);
  if (port === 0) return null;
  const credentials = credentialsOf(url);
  const encoded = credentials === null ? null : base64(credentials.join(':'));
  const [username = '', password = ''] = credentials ?? [];
  // A user name without a password is a token.
  const secret = password === '' ? username : password;
  return {
    shown: `${url.protocol}//${endpointText(hostname, port)}`,
    isTls,
    hostname,
    port,
    authorization: encoded === null ? null : `Basic ${encoded}`,
    secrets: encoded === null ? [] : [secret, encoded].filter((text) => text !== ''),
  };
}

/** Removes a possible password, for messages about a refused URL. */
export function withoutCredentials(text: string): string {
  return text.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, '$1********@');
}

function credentialsOf({ username, password }: URL): readonly [string, string] | null {
  if (username === '' && password === '') return null;
  return [percentDecoded(username), percentDecoded(password)];
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
