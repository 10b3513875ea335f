import type { CauseRow, CodesOf } from '../cause.ts';
import { LINKS } from '../links.ts';
import { routeOf } from '../traceroute.ts';

/** Why no echo reply came. */
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
      `A router or the host itself answered that ${target} cannot be reached. Likely the host or its link is down, or a firewall rejects the packets.`,
    fix: ({ location }) =>
      `The agent's message names who answered: look at the routes and rules of that router, and at the route from ${location} to it.`,
    links: [LINKS.unreachable],
  },
  ICMP_NOT_PERMITTED: {
    classification: 'AGENT_PROBLEM',
    cause: ({ location }) =>
      `The agent in ${location} may not open an ICMP socket, so it sent nothing. Nothing is known about the target.`,
    fix: () =>
      'Let the group of the agent open ping sockets (sysctl net.ipv4.ping_group_range), or give its process the capability CAP_NET_RAW.',
    links: [LINKS.ping],
  },
};

/** Why the agent itself failed. */
export const AGENT_CAUSES: Readonly<Record<CodesOf<'agent'>, CauseRow>> = {
  CANCELLED: {
    classification: 'AGENT_PROBLEM',
    cause: ({ location }) =>
      `The run was cut short because the agent in ${location} stopped, or a user cancelled it. Nothing is known about the target.`,
    fix: () =>
      'No action is needed. If agents are often stopped while they run checks, give them more time to finish (SHUTDOWN_GRACE_SECONDS).',
    links: [],
  },
  INTERNAL_ERROR: {
    classification: 'AGENT_PROBLEM',
    cause: ({ location }) =>
      `The agent in ${location} failed for a reason of its own, which its message names. Nothing is known about the target.`,
    fix: () =>
      'If its message names a limit of the machine (open files, ports, memory), raise it. Otherwise look at the log of the agent at the time of the run.',
    links: [],
  },
};

/** Why the agent sent no request. */
export const REQUEST_CAUSES: Readonly<Record<CodesOf<'request'>, CauseRow>> = {
  VARIABLE_UNKNOWN: {
    classification: 'CHECK_CONFIGURATION',
    cause: ({ location }) =>
      `A template in the request uses a variable that is not defined in the check, the account or the agent in ${location}; the agent's message names it. No request was sent.`,
    fix: ({ location }) =>
      `Correct the name in the template, or give the variable to the check or to the account. If its value is to stay in the network of ${location}, put it into VARIABLES_DIR or VARIABLES_FROM_ENV of every agent there.`,
    links: [],
  },
  CREDENTIAL_NOT_READABLE: {
    classification: 'CHECK_CONFIGURATION',
    cause: ({ target }) =>
      `The service cannot decrypt a credential or a secret variable of the check, a secret variable of the account, or a credential of the location's proxy, because the key that encrypted it is not in ENCRYPTION_KEY; the message says where it is used. No request was sent to ${target}.`,
    fix: () =>
      'Add the key that encrypted it at the end of ENCRYPTION_KEY of the service and restart it, or set the secret of the check, the account or the location again.',
    links: [],
  },
  VARIABLE_DENIED: {
    classification: 'CHECK_CONFIGURATION',
    cause: ({ location }) =>
      `The request would send a variable that only the agent in ${location} has to a target that the agent's VARIABLE_TARGETS does not allow; its message names both. It was not sent.`,
    fix: ({ location }) =>
      `Correct the target of the check, or the redirect that leads away from it. If the target is to get the value, have the operator of ${location} add it to VARIABLE_TARGETS of every agent there.`,
    links: [],
  },
  SCRIPT_FAILED: {
    classification: 'CHECK_CONFIGURATION',
    cause: ({ location }) =>
      `A setup or teardown script of the check or of its group failed in ${location}: the message contains the script, its line and its error. This says nothing about the target, unless the script judges it.`,
    fix: () =>
      'Look at that line. If it reads the response or one of its own requests, check in the job log what was received: perhaps a server answers differently than the script expects.',
    links: [],
  },
  SCRIPT_TIMEOUT: {
    classification: 'CHECK_CONFIGURATION',
    cause: ({ location }) =>
      `A setup or teardown script of the check or of its group did not end within 10 s in ${location}, and was ended.`,
    fix: () =>
      'See in the job log how far the script got: a loop or a regular expression does not end, or a server that it calls with fetch does not answer.',
    links: [],
  },
  SCRIPT_MEMORY: {
    classification: 'CHECK_CONFIGURATION',
    cause: ({ location }) =>
      `A setup or teardown script of the check or of its group needed more than 64 MB of memory in ${location}, and was ended.`,
    fix: () => 'Make the script use less memory: look for texts and lists that grow in a loop.',
    links: [],
  },
  SCRIPT_REFUSED: {
    classification: 'CHECK_CONFIGURATION',
    cause: ({ location, target }) =>
      `The check has scripts, and the operator of ${location} switched scripts off (EXECUTE_SCRIPTS). No request was sent to ${target}.`,
    fix: ({ location }) =>
      `Run the check in another location, remove its scripts and those of its group, or have the operator of ${location} set EXECUTE_SCRIPTS=on.`,
    links: [],
  },
  TOKEN_REFUSED: {
    classification: 'CHECK_CONFIGURATION',
    cause: ({ location, target }) =>
      `The agent in ${location} got no access token, so it sent no request to ${target}: the token endpoint refused the client of the check, or its answer contains no usable token. The message contains its answer.`,
    fix: () =>
      'Check whether the client still exists at the authorization server with this secret, scope and audience, and whether tokenUrl is its token endpoint.',
    links: [],
  },
  TOKEN_ENDPOINT_UNAVAILABLE: {
    classification: 'SERVICE_UNAVAILABLE',
    cause: ({ location, target }) =>
      `The agent in ${location} got no access token, so it sent no request to ${target}: the token endpoint could not be reached, or answered that it cannot serve requests now. Likely the authorization server is down, overloaded or cannot be reached by the agent. Nothing is known about the target.`,
    fix: ({ location }) =>
      `Make sure that the authorization server is up, and that the agents in ${location} can reach the token endpoint. The message says how far the agent got.`,
    links: [],
  },
  REQUEST_INVALID: {
    classification: 'CHECK_CONFIGURATION',
    cause: ({ location }) =>
      `With the values of its variables filled in, the request is invalid, so the agent in ${location} could not send it: the message says which part is wrong.`,
    fix: () =>
      'Look at the values of the variables that this part of the request uses: a URL needs its scheme and host, and a header takes no line break. In a URL, {{NAME}} encodes the value and {{{NAME}}} puts it in as it is.',
    links: [LINKS.uriSyntax, LINKS.headerFields],
  },
};
