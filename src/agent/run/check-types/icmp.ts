import type { createIcmpProbe } from '../../probes/icmp.ts';
import { isNetworkError } from '../../probes/probe.ts';
import { type CheckTypeRunner, commonDetail, NOTHING_SEEN } from './check-type.ts';

export interface IcmpParts {
  readonly icmp: ReturnType<typeof createIcmpProbe>;
}

export function icmpRunner({ icmp }: IcmpParts): CheckTypeRunner<'ICMP'> {
  return {
    async probe(check, context) {
      const outcome = await icmp.probe(check.request, context);
      const { response, failure } = outcome;
      const lossPercent = response?.packetLoss ?? null;
      const underMax = lossPercent !== null && lossPercent < check.maxPacketLossThreshold;
      return {
        failure,
        responseTimeMs: outcome.responseTimeMs,
        criterion: underMax ? 'met' : 'unmet',
        answered: response !== null && response.packetsReceived > 0,
        packetLossPercent: lossPercent,
        networkError: isNetworkError(outcome),
        sources:
          response === null
            ? {}
            : {
                LATENCY: { kind: 'json', value: response.latency },
                JSON_RESPONSE: { kind: 'json', value: response },
              },
        detail: (extras) => ({
          icmpCheckResult: {
            ...commonDetail(failure, extras),
            request: outcome.request,
            response,
            timingPhases: outcome.timingPhases,
          },
        }),
      };
    },
    broken: ({ request: { hostname, pingCount, ipFamily } }, failure) => ({
      ...NOTHING_SEEN,
      failure,
      detail: (extras) => ({
        icmpCheckResult: {
          ...commonDetail(failure, extras),
          request: { hostname, pingCount, ipFamily },
          response: null,
          timingPhases: { dns: 0, total: 0 },
        },
      }),
    }),
  };
}
