import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  clientCredentialsGrantRequest,
  customFetch,
  processClientCredentialsResponse,
  ResponseBodyError,
} from 'oauth4webapi';
import { isHeaderValue } from '../../../../model/check/request/http.ts';
import type { FamilyChoice } from '../../../../model/enums.ts';
import type { ErrorCode, Failure } from '../../../../model/result/error-codes.ts';
import { messageOf } from '../../../../runtime/errors.ts';
import { VERSION } from '../../../../runtime/version.ts';
import type { WaitOutcomes } from '../../../net/limited-wait.ts';
import { shortenedText } from '../../../secrets/cut-scrubbed.ts';
import type { ProbeContext } from '../../probe.ts';
import { type HttpProbeOptions, probeHttp } from '../probe.ts';
import { shownUrl } from '../shown-url.ts';
import type { TokenReply } from './token-cache.ts';
import { usedForMs } from './token-lifetime.ts';

/** The route to the token endpoint, which is the same as for all requests of the location. */
export type TokenRoute = Pick<HttpProbeOptions, 'clientCertificates' | 'proxyUrl'>;

export interface TokenSettings {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Empty if the request has none. */
  readonly scope: string;
  /** Empty if the request has none. */
  readonly audience: string;
  readonly clientAuthentication: 'HEADER' | 'BODY';
  readonly skipSSL: boolean;
  readonly ipFamily: FamilyChoice;
}

const MAX_TOKEN_CHARS = 16_000;
/** Statuses that, like 5xx, do not refuse the credentials (RFC 9110 15.5.9, RFC 6585 4). */
const UNAVAILABLE: ReadonlySet<number> = new Set([408, 429]);
/** Maximum number of characters of the endpoint's own text that a failure quotes. */
const MAX_REASON_CHARS = 200;

/** The request to the token endpoint did not get a response. */
class NoTokenResponse extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * Requests an access token with the credentials of a client (RFC 6749 4.4). TARGET_DENY, the proxy,
 * client certificates and the attempt's deadline apply as to every probe. Follows no redirects.
 */
export async function requestToken(
  settings: TokenSettings,
  route: TokenRoute,
  context: ProbeContext,
): Promise<TokenReply> {
  const { tokenUrl, clientId, clientSecret, scope, audience, clientAuthentication } = settings;
  const server = { issuer: tokenUrl, token_endpoint: tokenUrl };
  const client = { client_id: clientId };
  const authentication = clientAuthentication === 'BODY' ? ClientSecretPost : ClientSecretBasic;
  const parameters = new URLSearchParams();
  if (scope !== '') parameters.set('scope', scope);
  if (audience !== '') parameters.set('audience', audience);
  let status: number | null = null;
  const refused = (why: string): TokenReply => {
    const isUnavailable = status !== null && (status >= 500 || UNAVAILABLE.has(status));
    const code = isUnavailable ? 'TOKEN_ENDPOINT_UNAVAILABLE' : 'TOKEN_REFUSED';
    const shown = shortenedText(why, MAX_REASON_CHARS, context.scrub);
    return {
      ok: false,
      isAnswered: true,
      failure: failureOf(code, `${whereOf(settings)}: ${shown}`),
    };
  };
  try {
    const options = {
      [customFetch]: (url: string, request: TokenHttpRequest) =>
        send(new URL(url), request, settings, route, context),
      // The check decides whether it uses TLS.
      [allowInsecureRequests]: true,
    };
    const response = await clientCredentialsGrantRequest(
      server,
      client,
      authentication(clientSecret),
      parameters,
      options,
    );
    status = response.status;
    const answer = await processClientCredentialsResponse(server, client, response);
    const { access_token: value, expires_in: givenS, token_type: type } = answer;
    if (type !== 'bearer') return refused('its token is not of the type Bearer');
    if (value.length > MAX_TOKEN_CHARS || !isHeaderValue(value)) {
      return refused('its token cannot be sent in a header');
    }
    const untilMs = context.clock.monotonicMs() + usedForMs(givenS ?? null);
    return { ok: true, token: { value, untilMs } };
  } catch (thrown) {
    if (thrown instanceof NoTokenResponse) return notAnswered(thrown.failure);
    if (!(thrown instanceof ResponseBodyError)) {
      return refused(
        status === 200 ? messageOf(thrown) : `it answered ${status}: ${messageOf(thrown)}`,
      );
    }
    const { error, error_description: description } = thrown;
    const reason = description === undefined ? error : `${error}: ${description}`;
    return refused(`it answered ${status} with ${reason}`);
  }
}

function whereOf({ tokenUrl }: TokenSettings): string {
  return `POST ${shownUrl(new URL(tokenUrl))}`;
}

/** The replies of a wait for a token that another run has requested. */
export function waitForToken(settings: TokenSettings): WaitOutcomes<TokenReply> {
  const where = whereOf(settings);
  const what = 'while it waited for the token that another run requested';
  return {
    timedOut: () =>
      notAnswered({ code: 'RESPONSE_TIMEOUT', message: `${where}: the time was up ${what}` }),
    cancelled: () =>
      notAnswered({ code: 'CANCELLED', message: `${where}: the run was cancelled ${what}` }),
  };
}

function notAnswered(failure: Failure): TokenReply {
  const { code, message } = failure;
  if (code === 'CANCELLED') return { ok: false, isAnswered: false, failure };
  const shown = failureOf('TOKEN_ENDPOINT_UNAVAILABLE', `${code}: ${message}`);
  return { ok: false, isAnswered: false, failure: { ...shown, cause: code } };
}

function failureOf(code: ErrorCode, why: string): Failure {
  return { code, message: `No access token was obtained, so the target was not asked: ${why}` };
}

interface TokenHttpRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** @throws NoTokenResponse if there is none */
async function send(
  url: URL,
  { method, headers, body }: TokenHttpRequest,
  { skipSSL, ipFamily }: TokenSettings,
  { clientCertificates, proxyUrl }: TokenRoute,
  context: ProbeContext,
): Promise<Response> {
  const bytes = Buffer.from(String(body ?? ''), 'utf8');
  const authorization = headers.authorization?.replace(/^Basic /, '');
  if (authorization !== undefined) await context.learnSecrets?.([authorization]);
  const sent: [string, string][] = [
    ...Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      value === undefined || name.toLowerCase() === 'user-agent' ? [] : [[name, value]],
    ),
    ['user-agent', `vedette/${VERSION}`],
    ['content-length', String(bytes.length)],
  ];
  const echo = { method, url: url.href, data: '', headers: {}, params: {} };
  const request = { method, url, headers: sent, body: bytes, echo, notes: [] };
  const {
    failure,
    response,
    body: received,
  } = await probeHttp({ ...request, followRedirects: false, skipSSL, ipFamily }, context, {
    clientCertificates,
    proxyUrl,
    keepBody: false,
    room: null,
    auth: null,
  });
  if (failure !== null) throw new NoTokenResponse(failure);
  if (response === null || received === null || response.status > 599) {
    const what = `the token endpoint answered with the status ${response?.status ?? 'none'}`;
    throw new NoTokenResponse({ code: 'PROTOCOL_ERROR', message: what });
  }
  const { status } = response;
  const type = response.headers['content-type'];
  return new Response(WITHOUT_BODY.has(status) ? null : new Uint8Array(received), {
    status,
    headers: typeof type === 'string' ? { 'content-type': type } : {},
  });
}
