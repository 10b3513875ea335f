import type { CauseRow, CodesOf } from '../cause.ts';
import { LINKS } from '../links.ts';

/** Why the proxy of a location led nowhere. Of the target itself hardly anything is known then. */
export const PROXY_CAUSES: Readonly<Record<CodesOf<'proxy'>, CauseRow>> = {
  PROXY_UNREACHABLE: {
    classification: 'CHECK_CONFIGURATION',
    cause: ({ location, target }) =>
      `Checks in ${location} go through a proxy, and the agent got no connection to it; its message says how far it came. ${target} was not asked.`,
    fix: ({ location }) =>
      `See that the proxyUrl of ${location} names the proxy and its port, that the proxy runs, and that the machine of the agent may connect to it. If checks there need no proxy any more, take it off the location.`,
    links: [LINKS.tcpHandshake],
  },
  PROXY_AUTH_REQUIRED: {
    classification: 'CHECK_CONFIGURATION',
    cause: ({ location, target }) =>
      `The proxy that checks in ${location} go through wants credentials, and got none or the wrong ones (407). ${target} was not asked.`,
    fix: ({ location }) =>
      `Put the credentials into the proxyUrl of ${location} (http://user:password@proxy:3128, percent-encoded), or see at the proxy why it does not take them: they may have expired, or be wanted in another scheme than Basic.`,
    links: [LINKS.status407],
  },
  PROXY_REFUSED: {
    classification: 'GATEWAY_ERROR',
    cause: ({ location, target }) =>
      `The proxy that checks in ${location} go through answered, and did not connect to ${target}. Likely its rules do not allow this host or port, or it could not reach or resolve it itself: the agent's message has its answer.`,
    fix: ({ host, port }) =>
      `Look into the log of the proxy for this request. If a rule stopped it, let the proxy connect to ${host}${port === null ? '' : ` on port ${port}`}; if it could not get there, try from the machine of the proxy itself, with its name servers.`,
    links: [LINKS.connectMethod, LINKS.status502],
  },
};
