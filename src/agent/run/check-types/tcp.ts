import type { ClientCertificate } from '../../../model/check/client-certificate.ts';
import type { Evaluator } from '../../assertions/evaluator.ts';
import type { StepMatch } from '../../probes/tcp/exchange.ts';
import { probeTcp, tcpEcho } from '../../probes/tcp/probe.ts';
import { NOT_SCRUBBED } from '../../secrets/cut-scrubbed.ts';
import { CutShort } from '../starvation/cut-short.ts';
import {
  type CheckTypeRunner,
  commonDetailFields,
  familiesIn,
  NOTHING_SEEN,
  responseTimeEarlier,
  toProbed,
} from './check-type.ts';

export interface TcpParts {
  readonly evaluator: Evaluator;
  /** The certificates of the current check set. */
  readonly clientCertificates: () => readonly ClientCertificate[];
}

/** The assertion as which a step's expression is evaluated. */
const STEP = {
  source: 'RESPONSE_DATA',
  property: '',
  comparison: 'NOT_NULL',
  target: '',
} as const;

export function tcpRunner({ evaluator, clientCertificates }: TcpParts): CheckTypeRunner<'TCP'> {
  return {
    async probe(check, context) {
      const { request } = check;
      const onData = request.assertions.filter(({ source }) => source === 'RESPONSE_DATA');
      const satisfied = async (text: string): Promise<boolean> => {
        const sources = { RESPONSE_DATA: { kind: 'text', text } } as const;
        const results = await evaluator.evaluate(onData, sources, context.signal);
        return results.every(({ error }) => error === null);
      };
      const matches = async (regex: string, text: string): Promise<StepMatch> => {
        const sources = { RESPONSE_DATA: { kind: 'matched-text', text } } as const;
        const step = { ...STEP, regex };
        const evaluation = new CutShort(context.starvation);
        const { onOutOfTime } = evaluation;
        const [result] = await evaluator.evaluate([step], sources, context.signal, { onOutOfTime });
        if (result?.error === null) return 'matches';
        return evaluation.assertions().size > 0 ? 'cut-short' : 'differs';
      };
      const outcome = await probeTcp(request, context, satisfied, {
        clientCertificates: clientCertificates(),
        maxResponseTimeMs: check.maxResponseTime,
        matches,
      });
      const { response, failure, timings, timingPhases, tcp, tls, families } = outcome;
      const probed = toProbed(outcome, {
        criterion: () => 'met',
        sources: ({ data }) => ({
          RESPONSE_DATA: { kind: 'text', text: data },
          RESPONSE_TIME: { kind: 'number', value: outcome.responseTimeMs },
          CERTIFICATE: { kind: 'tls', facts: tls },
        }),
        tls,
        timesEarlier: (_response, byMs) => responseTimeEarlier(outcome.responseTimeMs, byMs),
        detail: (extras) => ({
          tcpCheckResult: {
            ...commonDetailFields(failure, extras),
            ...familiesIn({ families, ...extras }),
            request: outcome.request,
            response,
            timings,
            timingPhases,
            tcp,
            tls,
          },
        }),
      });
      const sends = [request.data, ...request.steps.map(({ send }) => send)];
      const unencrypted = request.tls === 'OFF' && sends.some((text) => (text ?? '') !== '');
      const { timedOut, isCutShort, peerMs, clock } = outcome;
      return { ...probed, unencrypted, timedOut, isCutShort, peerMs, clock };
    },
    receivers: ({ request: { hostname, port } }) => [{ hostname, port }],
    broken: ({ request }, failure) => ({
      ...NOTHING_SEEN,
      failure,
      detail: (extras) => ({
        tcpCheckResult: {
          ...commonDetailFields(failure, extras),
          ...familiesIn(extras),
          request: tcpEcho(request, NOT_SCRUBBED),
          response: null,
          timings: { lookup: null, connect: null, response: null, end: 0 },
          timingPhases: { dns: 0, connection: 0, data: 0, total: 0 },
        },
      }),
    }),
  };
}
