import { isPassingLoss } from '../../../model/check/thresholds.ts';
import type { IcmpResponse } from '../../../model/result/details/icmp-detail.ts';
import type { SourceValues } from '../../assertions/evaluator.ts';
import type { createIcmpProbe } from '../../probes/icmp/probe.ts';
import {
  type CheckTypeRunner,
  commonDetailFields,
  familiesIn,
  NOTHING_SEEN,
  toProbed,
} from './check-type.ts';

export interface IcmpParts {
  readonly icmp: ReturnType<typeof createIcmpProbe>;
}

export function icmpRunner({ icmp }: IcmpParts): CheckTypeRunner<'ICMP'> {
  return {
    async probe(check, context) {
      const outcome = await icmp.probe(check.request, context);
      const { response, failure, timingPhases } = outcome;
      const { dns, total } = timingPhases;
      const probed = toProbed(outcome, {
        criterion: ({ packetLoss }) =>
          isPassingLoss(packetLoss, check.maxPacketLossThreshold) ? 'met' : 'unmet',
        sources: sourcesOf,
        timesEarlier: (seen, byMs) => sourcesOf(earlier(seen, byMs)),
        detail: (extras) => ({
          icmpCheckResult: {
            ...commonDetailFields(failure, extras),
            ...familiesIn(extras),
            request: outcome.request,
            response,
            timings: { lookup: dns, end: total },
            timingPhases,
          },
        }),
      });
      // There is a response as soon as a request was sent, even without a reply.
      const answered = response !== null && response.packetsReceived > 0;
      const packetLossPercent = response?.packetLoss ?? null;
      return { ...probed, answered, packetLossPercent, clock: outcome.clock };
    },
    // ICMP requests have no templates.
    receivers: () => [],
    broken: ({ request: { hostname, pingCount, ipFamily } }, failure) => ({
      ...NOTHING_SEEN,
      failure,
      detail: (extras) => ({
        icmpCheckResult: {
          ...commonDetailFields(failure, extras),
          ...familiesIn(extras),
          request: { hostname, pingCount, ipFamily },
          response: null,
          timings: { lookup: 0, end: 0 },
          timingPhases: { dns: 0, total: 0 },
        },
      }),
    }),
  };
}

function sourcesOf(seen: IcmpResponse): SourceValues {
  return {
    LATENCY: { kind: 'json', value: seen.latency },
    JSON_RESPONSE: { kind: 'json', value: seen },
  };
}

/** The kernel stamps replies, but the agent can be paused between reading the clock and sending. */
function earlier(seen: IcmpResponse, byMs: number): IcmpResponse {
  const less = (ms: number | null): number | null => (ms === null ? null : Math.max(0, ms - byMs));
  const { avg, min, max, stdDev } = seen.latency;
  return {
    ...seen,
    dnsResolutionTime: Math.max(0, seen.dnsResolutionTime - byMs),
    latency: { avg: less(avg), min: less(min), max: less(max), stdDev },
    pingResults: seen.pingResults.map((each) => ({ ...each, rtt: less(each.rtt) })),
  };
}
