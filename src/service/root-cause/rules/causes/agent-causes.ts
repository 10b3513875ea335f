import type { CauseRow, CodesOf } from '../cause.ts';
import { LINKS } from '../links.ts';
import { routeOf } from '../route.ts';

/** Why no echo came back. */
export const ICMP_CAUSES: Readonly<Record<CodesOf<'icmp'>, CauseRow>> = {
  ICMP_NO_REPLY: {
    classification: 'PACKET_LOSS',
    cause({ target }, { result }) {
      const reached = routeOf(result)?.destinationReached === true;
      const likely = reached
        ? 'The trace reaches the host, so it likely does not answer echo requests, or a firewall filters them.'
        : 'Likely the host is down, cut off, or a firewall filters echo requests (ICMP).';
      return `No echo request to ${target} was answered. ${likely}`;
    },
    fix: ({ target, location }) =>
      `See that ${target} is up and that ICMP echo is let through between ${location} and the host. If it is not meant to answer, check it by TCP instead.`,
    links: [LINKS.ping],
  },
  ICMP_UNREACHABLE: {
    classification: 'CONNECTION_FAILURE',
    cause: ({ target }) =>
      `A router or the host itself answered that ${target} cannot be reached. Likely the host or its link is down, or a firewall says so.`,
    fix: ({ location }) =>
      `The agent's message names who answered: look at that router's routes and rules, and at the way from ${location} to it.`,
    links: [LINKS.unreachable],
  },
  ICMP_NOT_PERMITTED: {
    classification: 'AGENT_PROBLEM',
    cause: ({ location }) =>
      `The agent in ${location} may not open an ICMP socket, so it sent nothing. Nothing is known of the target.`,
    fix: () =>
      'Let the group of the agent open ping sockets (sysctl net.ipv4.ping_group_range), or give its process the capability CAP_NET_RAW.',
    links: [LINKS.ping],
  },
};

/** Why the agent itself made no result. */
export const AGENT_CAUSES: Readonly<Record<CodesOf<'agent'>, CauseRow>> = {
  CANCELLED: {
    classification: 'AGENT_PROBLEM',
    cause: ({ location }) =>
      `The run was cut short because the agent in ${location} stopped. Nothing is known of the target.`,
    fix: () =>
      'Nothing is to be mended. If agents are stopped often while they run checks, give them longer to end (SHUTDOWN_GRACE_SECONDS).',
    links: [],
  },
  INTERNAL_ERROR: {
    classification: 'AGENT_PROBLEM',
    cause: ({ location }) =>
      `The agent in ${location} failed for a reason of its own, which its message names. Nothing is known of the target.`,
    fix: () =>
      'If its message names a limit of the machine (open files, ports, memory), raise it. Else look into the log of the agent at the time of the run.',
    links: [],
  },
};
