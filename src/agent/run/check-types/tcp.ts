import type { Evaluator } from '../../assertions/evaluator.ts';
import { probeTcp } from '../../probes/tcp/probe.ts';
import {
  type CheckTypeRunner,
  commonDetailFields,
  NOTHING_SEEN,
  responseTimeEarlier,
  toProbed,
} from './check-type.ts';

export interface TcpParts {
  readonly evaluator: Evaluator;
}

export function tcpRunner({ evaluator }: TcpParts): CheckTypeRunner<'TCP'> {
  return {
    async probe(check, context) {
      const { request } = check;
      const onData = request.assertions.filter(({ source }) => source === 'RESPONSE_DATA');
      const outcome = await probeTcp(request, context, async (text) => {
        const sources = { RESPONSE_DATA: { kind: 'text', text } } as const;
        const results = await evaluator.evaluate(onData, sources, context.signal);
        return results.every(({ error }) => error === null);
      });
      const { response, failure, timings, timingPhases, tcp } = outcome;
      const probed = toProbed(outcome, {
        criterion: () => 'met',
        sources: ({ data }) => ({
          RESPONSE_DATA: { kind: 'text', text: data },
          RESPONSE_TIME: { kind: 'number', value: outcome.responseTimeMs },
        }),
        timesEarlier: (_response, byMs) => responseTimeEarlier(outcome.responseTimeMs, byMs),
        detail: (extras) => ({
          tcpCheckResult: {
            ...commonDetailFields(failure, extras),
            request: outcome.request,
            response,
            timings,
            timingPhases,
            tcp,
          },
        }),
      });
      const unencrypted = request.data !== null && request.data !== '';
      const { timedOut, peerMs, clock } = outcome;
      return { ...probed, unencrypted, timedOut, peerMs, clock };
    },
    receivers: ({ request: { hostname, port } }) => [{ hostname, port }],
    broken: ({ request: { hostname, port, data, ipFamily } }, failure) => ({
      ...NOTHING_SEEN,
      failure,
      detail: (extras) => ({
        tcpCheckResult: {
          ...commonDetailFields(failure, extras),
          request: { hostname, port, data, ipFamily },
          response: null,
          timings: { lookup: null, connect: null, response: null, end: 0 },
          timingPhases: { dns: 0, connection: 0, data: 0, total: 0 },
        },
      }),
    }),
  };
}
