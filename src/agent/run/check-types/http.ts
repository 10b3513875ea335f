import { decidesStatus } from '../../../model/check/assertions/assertion.ts';
import type { CheckOf } from '../../../model/check/check.ts';
import type { ClientCertificate } from '../../../model/check/client-certificate.ts';
import { maskHeaders } from '../../../model/credentials/sensitive-headers.ts';
import { maskUserinfo } from '../../../model/credentials/url-secret.ts';
import { isPassingStatus } from '../../../model/result/criterion.ts';
import type { HttpDetail, HttpResponse } from '../../../model/result/details/http-detail.ts';
import { parseProxy } from '../../../runtime/net/proxy/proxy-url.ts';
import { isOfBody } from '../../assertions/assertion-sources.ts';
import type { SourceValues } from '../../assertions/evaluator.ts';
import { chooseAuthorizer } from '../../probes/http/auth/choose-authorizer.ts';
import { TokenCache } from '../../probes/http/auth/token-cache.ts';
import { decodeText } from '../../probes/http/body/decode-text.ts';
import { prepareRequest } from '../../probes/http/prepare-request.ts';
import { type HttpOutcome, probeHttp } from '../../probes/http/probe.ts';
import { receiversOf } from '../../probes/http/receivers.ts';
import { shownUrl } from '../../probes/http/shown-url.ts';
import {
  type CheckTypeRunner,
  commonDetailFields,
  type DetailExtras,
  familiesIn,
  type LongBody,
  NOTHING_SEEN,
  responseTimeEarlier,
  toProbed,
} from './check-type.ts';

type HttpCheck = CheckOf<'URL'> | CheckOf<'API'>;

export interface HttpParts {
  /** The certificates of the current check set. */
  readonly clientCertificates: () => readonly ClientCertificate[];
  /** The proxy of the location; null if there is none. */
  readonly proxyUrl: () => string | null;
}

/** URL and API checks. */
export function httpRunner<Type extends 'URL' | 'API'>(parts: HttpParts): CheckTypeRunner<Type> {
  const tokens = new TokenCache();
  return {
    async probe(check: HttpCheck, context, bodyMemory) {
      const keepBody = readsBody(check) || context.wantsBody === true;
      const route = {
        clientCertificates: parts.clientCertificates(),
        proxyUrl: parts.proxyUrl(),
      };
      const { request } = check;
      const auth = 'auth' in request ? chooseAuthorizer(request, { ...route, tokens }) : null;
      const prepared = prepareRequest(request, context.scrub, context.traceparent);
      if (prepared.traceparent !== undefined) {
        context.log.info(`Sending traceparent: ${prepared.traceparent}`);
      }
      const outcome = await probeHttp(prepared, context, {
        ...route,
        auth,
        keepBody,
        room: bodyMemory,
      });
      const isDecided = request.assertions.some(decidesStatus);
      const probed = toProbed(outcome, {
        criterion({ status }) {
          if (isDecided) return 'decided';
          return isPassingStatus(status) ? 'met' : 'unmet';
        },
        sources: (response) => sourcesOf(response, outcome, keepBody),
        tls: outcome.tls,
        timesEarlier: (_response, byMs) => responseTimeEarlier(outcome.responseTimeMs, byMs),
        detail: (extras) => ({ apiCheckResult: detailOf(outcome, extras) }),
      });
      const { sent: requestSent, unencrypted, peerMs, isTimedByKernel } = outcome;
      const clock = isTimedByKernel ? 'mixed' : 'event-loop';
      const longBody = longBodyOf(outcome);
      const { lackedBytes } = outcome;
      return { ...probed, requestSent, unencrypted, peerMs, clock, longBody, lackedBytes };
    },
    receivers({ request }: HttpCheck) {
      const headers = 'headers' in request ? request.headers : [];
      const asked = {
        url: new URL(request.url),
        headers: headers.map(({ key, value }) => [key, value] as const),
      };
      const proxyUrl = parts.proxyUrl();
      const proxy = proxyUrl === null ? null : parseProxy(proxyUrl);
      const clientCertificates = parts.clientCertificates();
      const route = { proxy, skipSSL: request.skipSSL, clientCertificates };
      const tokenUrl = ('auth' in request ? request.auth?.tokenUrl : null) ?? null;
      const token =
        tokenUrl === null ? [] : receiversOf({ url: new URL(tokenUrl), headers: [] }, route);
      const forToken = token.map((receiver) => ({ ...receiver, isForToken: true as const }));
      return [...receiversOf(asked, route), ...forToken];
    },
    broken: (check: HttpCheck, failure) => ({
      ...NOTHING_SEEN,
      failure,
      detail: (extras) => ({
        apiCheckResult: {
          ...commonDetailFields(failure, extras),
          ...familiesIn(extras),
          request: {
            method: check.request.method,
            url: brokenUrl(check.request.url),
            data: '',
            headers: {},
            params: {},
          },
          response: null,
        },
      }),
    }),
  };
}

function readsBody(check: HttpCheck): boolean {
  return check.request.assertions.some(({ source }) => isOfBody(source));
}

function sourcesOf(
  response: HttpResponse,
  outcome: HttpOutcome,
  isBodyRead: boolean,
): SourceValues {
  // Decodes the body, which may be long, only for assertions on it.
  const body = isBodyRead ? outcome.body : null;
  const text = body === null ? '' : decodeText(body, contentTypeOf(response));
  return {
    STATUS_CODE: { kind: 'number', value: response.status },
    HEADERS: { kind: 'headers', headers: response.headers },
    JSON_BODY: { kind: 'json-text', text },
    JSON_SCHEMA: { kind: 'json-text', text },
    TEXT_BODY: { kind: 'text', text },
    RESPONSE_TIME: { kind: 'number', value: outcome.responseTimeMs },
    CERTIFICATE: { kind: 'tls', facts: response.tls },
    IP_ADDRESS: { kind: 'text', text: response.ip },
    HTTP_VERSION: { kind: 'text', text: response.httpVersion },
  };
}

function contentTypeOf({ headers }: HttpResponse): string | null {
  const contentType = headers['content-type'];
  return typeof contentType === 'string' ? contentType : null;
}

function longBodyOf({ response, body }: HttpOutcome): LongBody | null {
  if (response === null || body === null) return null;
  if (response.bodyCut !== true && response.bodyEncoding !== 'omitted') return null;
  return { bytes: body, contentType: contentTypeOf(response), totalBytes: response.bodyBytes };
}

function detailOf(outcome: HttpOutcome, extras: DetailExtras): HttpDetail {
  const { request, response, failure, timings, timingPhases, tls, tcp } = outcome;
  const families = familiesIn({ families: outcome.families, ...extras });
  const common = { ...commonDetailFields(failure, extras), request, tcp, ...families };
  if (response === null) return { ...common, response, timings, timingPhases, tls };
  return { ...common, response: { ...response, headers: maskHeaders(response.headers) } };
}

/** The URL may still contain templates. */
function brokenUrl(url: string): string {
  return URL.canParse(url) ? shownUrl(new URL(url)) : maskUserinfo(url);
}
