import { withoutBrackets } from '../endpoint-text.ts';
import type { Exemption } from './no-proxy.ts';
import type { HttpProxy } from './proxy-url.ts';

/** HTTPS_PROXY, HTTP_PROXY and NO_PROXY. */
export interface Proxies {
  readonly https: HttpProxy | null;
  readonly http: HttpProxy | null;
  /** Hosts that are reached directly. */
  readonly exemptions: readonly Exemption[];
}

export const NO_PROXIES: Proxies = { https: null, http: null, exemptions: [] };

export interface ChosenProxy extends HttpProxy {
  readonly variable: 'HTTPS_PROXY' | 'HTTP_PROXY';
}

/** The proxy for a URL; null if it is reached directly. */
export function chooseProxy(proxies: Proxies, url: URL): ChosenProxy | null {
  const isTls = url.protocol === 'https:';
  const proxy = isTls ? proxies.https : proxies.http;
  if (proxy === null) return null;
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port);
  const hostname = withoutBrackets(url.hostname);
  if (proxies.exemptions.some((matches) => matches(hostname, port))) return null;
  return { ...proxy, variable: isTls ? 'HTTPS_PROXY' : 'HTTP_PROXY' };
}
