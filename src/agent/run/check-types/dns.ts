import { isPassingResponseCode } from '../../../model/result/criterion.ts';
import { type DnsProbeOptions, echoOf, probeDns } from '../../probes/dns/probe.ts';
import {
  type CheckTypeRunner,
  commonDetailFields,
  NOTHING_SEEN,
  responseTimeEarlier,
  toProbed,
} from './check-type.ts';

export function dnsRunner(options: DnsProbeOptions): CheckTypeRunner<'DNS'> {
  return {
    async probe(check, context) {
      const outcome = await probeDns(check.request, context, options);
      const { response, failure, timingPhases } = outcome;
      const decided = check.request.assertions.some(({ source }) => source === 'RESPONSE_CODE');
      const probed = toProbed(outcome, {
        criterion({ responseCode }) {
          if (failure !== null) return 'unmet';
          if (decided) return 'decided';
          return isPassingResponseCode(responseCode) ? 'met' : 'unmet';
        },
        sources: ({ responseCode, text, answer }) => ({
          RESPONSE_CODE: { kind: 'text', text: responseCode },
          RESPONSE_TIME: { kind: 'number', value: outcome.responseTimeMs },
          TEXT_ANSWER: { kind: 'text', text },
          JSON_ANSWER: { kind: 'json', value: answer },
          CERTIFICATE: { kind: 'tls', facts: outcome.tls ?? null },
        }),
        tls: outcome.tls ?? null,
        timesEarlier: (_response, byMs) => responseTimeEarlier(outcome.responseTimeMs, byMs),
        detail: (extras) => ({
          dnsCheckResult: {
            ...commonDetailFields(failure, extras),
            request: outcome.request,
            response,
            timings: { end: timingPhases.total },
            timingPhases,
            ...(outcome.tls === undefined ? {} : { tls: outcome.tls }),
          },
        }),
      });
      return { ...probed, clock: outcome.clock };
    },
    // DNS requests have no templates.
    receivers: () => [],
    broken: ({ request }, failure) => ({
      ...NOTHING_SEEN,
      failure,
      detail: (extras) => ({
        dnsCheckResult: {
          ...commonDetailFields(failure, extras),
          request: echoOf(request),
          response: null,
          timings: { end: 0 },
          timingPhases: { total: 0 },
        },
      }),
    }),
  };
}
