import type { CauseRow } from '../cause.ts';
import { LINKS } from '../links.ts';
import { routeOf } from '../traceroute.ts';

/** Too few echo replies. */
export const LOSS_CAUSE: CauseRow = {
  classification: 'PACKET_LOSS',
  cause({ target }, { result, check }) {
    const answer = result.icmpCheckResult?.response;
    const counts =
      answer === null || answer === undefined
        ? 'Echo requests'
        : `${answer.packetsSent - answer.packetsReceived} of ${answer.packetsSent} echo requests (${answer.packetLoss} %)`;
    const limit =
      check?.checkType === 'ICMP'
        ? `; from ${check.maxPacketLossThreshold} % on the check fails`
        : '';
    const where =
      routeOf(result) === null ? '' : ' The trace among the evidence shows where loss begins.';
    return `${counts} to ${target} were not answered${limit}. Likely a link on the route is congested or faulty, or the host or a router limits its echo replies per second.${where}`;
  },
  fix: ({ target }) =>
    `Trace the route to ${target} (mtr) and find the first hop after which all hops lose packets; look at the errors and the load of that link. If a limit for ICMP is the reason, send fewer echoes or raise the threshold.`,
  links: [LINKS.ping],
};

/** shouldFail, and the target did not fail. */
export const SUCCESS_CAUSE: CauseRow = {
  classification: 'UNEXPECTED_SUCCESS',
  cause({ target, kind }, { result }) {
    const status = result.apiCheckResult?.response?.status;
    const how =
      status === undefined
        ? { tcp: 'accepted the connection', dns: 'was resolved', icmp: 'answered the echoes' }[
            kind === 'tcp' || kind === 'dns' ? kind : 'icmp'
          ]
        : `answered with status ${status}`;
    return `The check passes when its target fails (shouldFail), but ${target} ${how}. Likely something that should be closed or removed is open or available again.`;
  },
  fix: () =>
    'Find out which change opened it: a firewall rule, an access rule, a route or a record. If it should be open, remove shouldFail from the check.',
  links: [],
};

/** The stored result does not contain the reason. */
export const UNKNOWN_CAUSE: CauseRow = {
  classification: 'UNKNOWN',
  cause: ({ target }) =>
    `The run against ${target} did not pass, and its stored result does not show why. Likely the check was changed since.`,
  fix: () => 'Run the check once more, and ask for an analysis of that result.',
  links: [],
};
