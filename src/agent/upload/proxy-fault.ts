import type { ChosenProxy } from '../net/proxy/choose-proxy.ts';
import type { NoTunnel } from '../net/proxy/open-tunnel.ts';

/** Why there is no connection through a proxy. */
export type ProxyProblem =
  /** Its name, TCP or TLS: the error that Node has for it. */
  | { readonly kind: 'unreachable'; readonly error: unknown }
  | { readonly kind: 'no-tunnel'; readonly end: NoTunnel };

/** For the HTTP library's connector, which can only hand on an Error; it never leaves this folder. */
export class ProxyFault extends Error {
  readonly code = 'VEDETTE_PROXY';
  readonly proxy: ChosenProxy;
  readonly problem: ProxyProblem;

  constructor(proxy: ChosenProxy, problem: ProxyProblem) {
    super(`no connection through the proxy ${proxy.shown}`);
    this.proxy = proxy;
    this.problem = problem;
  }
}
