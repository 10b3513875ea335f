import { isIP } from 'node:net';
import { isHttpUrl } from '../../model/check/request/request-url.ts';
import { hostname } from '../../model/check/request/shared-fields.ts';

/** The target of a first check. */
export type Target =
  | { readonly checkType: 'URL'; readonly url: string }
  | { readonly checkType: 'TCP'; readonly hostname: string; readonly port: number }
  | { readonly checkType: 'ICMP'; readonly hostname: string };

export const TARGET_FORMS =
  'a URL such as https://example.com/, a host such as example.com (which becomes https://example.com/), HOST:PORT such as db.internal:5432, or an IP address to ping';

const MAX_URL_CHARS = 2048;
const MAX_PORT = 65_535;

/**
 * Parses a target: a URL, a host with a port (TCP), or an IP address (ICMP). A host alone or with a path is a URL
 * without its scheme.
 *
 * @returns null for anything else
 */
export function targetOf(given: string): Target | null {
  const text = given.trim();
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return urlTarget(text);
  if (isIP(text) !== 0) return { checkType: 'ICMP', hostname: text };
  const [, host = '', digits = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  if (host !== '') return tcpTarget(host, Number(digits));
  const [name = ''] = text.split('/', 1);
  if (!isHost(name)) return null;
  return urlTarget(text.includes('/') ? `https://${text}` : `https://${text}/`);
}

function urlTarget(url: string): Target | null {
  const isShort = url.length <= MAX_URL_CHARS;
  return isShort && !/\s/.test(url) && isHttpUrl(url) ? { checkType: 'URL', url } : null;
}

function tcpTarget(host: string, port: number): Target | null {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  if (!isHost(bare) || port < 1 || port > MAX_PORT) return null;
  return { checkType: 'TCP', hostname: bare, port };
}

function isHost(text: string): boolean {
  return hostname.safeParse(text).success;
}

/** The host, as the id and the name of the check; of a URL with its port if that is not the default of the scheme. */
export function hostOf(target: Target): string {
  return target.checkType === 'URL' ? new URL(target.url).host : target.hostname;
}

/** For people: `https://example.com/` or `db.internal:5432`. */
export function targetText(target: Target): string {
  if (target.checkType === 'URL') return target.url;
  return target.checkType === 'TCP' ? `${target.hostname}:${target.port}` : target.hostname;
}
