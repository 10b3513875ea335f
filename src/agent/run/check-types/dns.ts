import { type DnsProbeOptions, probeDns } from '../../probes/dns.ts';
import { isNetworkError } from '../../probes/probe.ts';
import { type CheckTypeRunner, commonDetail, NOTHING_SEEN } from './check-type.ts';

export function dnsRunner(options: DnsProbeOptions): CheckTypeRunner<'DNS'> {
  return {
    async probe(check, context) {
      const outcome = await probeDns(check.request, context, options);
      const { response, failure } = outcome;
      const decided = check.request.assertions.some(({ source }) => source === 'RESPONSE_CODE');
      return {
        failure,
        responseTimeMs: outcome.responseTimeMs,
        criterion:
          response === null
            ? 'unmet'
            : decided
              ? 'decided'
              : response.responseCode === 'NOERROR'
                ? 'met'
                : 'unmet',
        answered: response !== null,
        packetLossPercent: null,
        networkError: isNetworkError(outcome),
        sources:
          response === null
            ? {}
            : {
                RESPONSE_CODE: { kind: 'text', text: response.responseCode },
                RESPONSE_TIME: { kind: 'number', value: outcome.responseTimeMs },
                TEXT_ANSWER: { kind: 'text', text: response.text },
                JSON_ANSWER: { kind: 'json', value: response.answer },
              },
        detail: (extras) => ({
          dnsCheckResult: {
            ...commonDetail(failure, extras),
            request: outcome.request,
            response,
            timingPhases: outcome.timingPhases,
          },
        }),
      };
    },
    broken: ({ request: { query, recordType, nameServer, port, protocol } }, failure) => ({
      ...NOTHING_SEEN,
      failure,
      detail: (extras) => ({
        dnsCheckResult: {
          ...commonDetail(failure, extras),
          request: { query, recordType, nameServer, port, protocol },
          response: null,
          timingPhases: { total: 0 },
        },
      }),
    }),
  };
}
