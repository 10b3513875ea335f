import { endpointText } from '../../../../runtime/net/endpoint-text.ts';
import type { CauseRow, CodesOf } from '../cause.ts';
import { LINKS } from '../links.ts';
import type { Subject } from '../subject.ts';
import { routeOf } from '../traceroute.ts';

const whereTo = ({ host, port }: Subject): string => endpointText(host, port);

/** Why the agent could not connect. */
export const CONNECT_CAUSES: Readonly<Record<CodesOf<'connect'>, CauseRow>> = {
  ADDRESS_DENIED: {
    classification: 'CHECK_CONFIGURATION',
    cause: (subject) =>
      `The agent in ${subject.location} may not connect to ${whereTo(subject)}: its setting TARGET_DENY denies the network of the address. Nothing is known about the target itself.`,
    fix: ({ location, host }) =>
      `If ${host} should be checked from ${location}, remove its network from TARGET_DENY of the agents there. Otherwise run the check in another location. If the address is not the one you expect, see where the name or a redirect leads.`,
    links: [],
  },
  CONNECT_REFUSED: {
    classification: 'CONNECTION_FAILURE',
    cause: (subject) =>
      `${whereTo(subject)} refused the connection: a host answered, but nothing accepts connections on that port. Likely the service has stopped or crashed, listens on another port or address, or a firewall rejects the agent.`,
    fix: ({ port }) =>
      `On the host, see that the service runs and listens${port === null ? '' : ` on port ${port}`} (ss -ltn), look into its log for why it stopped, and start it. If it runs, see which rule of the firewall rejects the agent.`,
    links: [LINKS.tcpReset],
  },
  CONNECT_TIMEOUT: {
    classification: 'CONNECTION_FAILURE',
    cause(subject, { result }) {
      const reached = routeOf(result)?.destinationReached === true;
      const likely = reached
        ? 'The trace reaches the host, so a firewall likely drops the packets to this port, or the host has no room for new connections.'
        : 'Likely the host is down, or a firewall or a security group on the way drops the packets.';
      return `${whereTo(subject)} did not answer the request for a connection in time. ${likely}`;
    },
    fix: ({ location, port }) =>
      `See that the host is up. Then see that every firewall and security group between ${location} and the host lets ${port === null ? 'the port' : `TCP port ${port}`} through, and that routes lead both ways.`,
    links: [LINKS.tcpHandshake],
  },
  CONNECT_UNREACHABLE: {
    classification: 'CONNECTION_FAILURE',
    cause: (subject) =>
      `There is no route from ${subject.location} to ${whereTo(subject)}, as reported by the agent's machine or a router. Likely a link, a VPN or a route is missing, or the machine has no ${subject.ipFamily}.`,
    fix: ({ location, host }) =>
      `On the machine of the agent in ${location}, run "ip route get" with the address of ${host}, and restore the link, the VPN or the route.`,
    links: [LINKS.unreachable],
  },
  CONNECT_RESET: {
    classification: 'CONNECTION_FAILURE',
    cause: (subject) =>
      `The connection to ${whereTo(subject)} was reset while it was being established. Likely a firewall, or a load balancer without a healthy server, ended it.`,
    fix: () =>
      'Check whether the load balancer has a healthy server, and which device on the route sends resets: packet captures at both ends show it.',
    links: [LINKS.tcpReset],
  },
  CONNECT_FAILED: {
    classification: 'CONNECTION_FAILURE',
    cause: (subject) =>
      `The operating system of the agent's machine could not open the connection to ${whereTo(subject)}; the agent's message contains its error. Likely a local rule forbids it.`,
    fix: ({ location }) =>
      `Look up the error, and find out which rule on the machine of the agent in ${location} (firewall, container policy) forbids the connection.`,
    links: [LINKS.tcpHandshake],
  },
};

/** Why the proxy of a location did not connect to the target. */
export const PROXY_CAUSES: Readonly<Record<CodesOf<'proxy'>, CauseRow>> = {
  PROXY_UNREACHABLE: {
    classification: 'CHECK_CONFIGURATION',
    cause: ({ location, target }) =>
      `Checks in ${location} use a proxy, and the agent could not connect to it; its message says how far it got. No request was sent to ${target}.`,
    fix: ({ location }) =>
      `Make sure that the proxyUrl of ${location} names the proxy and its port, that the proxy runs, and that the machine of the agent may connect to it. If checks there no longer need a proxy, remove it from the location.`,
    links: [LINKS.tcpHandshake],
  },
  PROXY_AUTH_REQUIRED: {
    classification: 'CHECK_CONFIGURATION',
    cause: ({ location, target }) =>
      `The proxy of ${location} requires credentials, and got none or the wrong ones (407). No request was sent to ${target}.`,
    fix: ({ location }) =>
      `Put the credentials into the proxyUrl of ${location} (http://user:password@proxy:3128, percent-encoded), or find out at the proxy why it rejects them: they may have expired, or the proxy may require another scheme than Basic.`,
    links: [LINKS.status407],
  },
  PROXY_REFUSED: {
    classification: 'GATEWAY_ERROR',
    cause: ({ location, target }) =>
      `The proxy of ${location} answered, but did not connect to ${target}. Likely its rules do not allow this host or port, or it could not reach or resolve the host: the agent's message contains its answer.`,
    fix: ({ host, port }) =>
      `Look for this request in the log of the proxy. If a rule stopped it, allow the proxy to connect to ${host}${port === null ? '' : ` on port ${port}`}; if the proxy could not reach the host, try it on the machine of the proxy, with its name servers.`,
    links: [LINKS.connectMethod, LINKS.status502],
  },
};
