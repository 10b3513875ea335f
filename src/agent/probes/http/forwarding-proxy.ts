import type { Failure } from '../../../model/result/error-codes.ts';
import type { HttpProxy } from '../../../runtime/net/proxy/proxy-url.ts';
import { credentialsFailure } from '../../net/proxy/proxy-failures.ts';
import type { JobLog } from '../job-log.ts';
import type { ProbeContext } from '../probe.ts';
import type { BodyPlan, ExchangeResult } from './exchange.ts';
import { requestText, shownUrl } from './shown-url.ts';
import type { HopRequest, ResponseHead } from './transport.ts';

const AUTHENTICATION_REQUIRED = 407;
/** Proxies answer with these statuses if they cannot reach the target. */
const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * The request for a proxy that forwards it without a tunnel: with the whole URL in its request line
 * (RFC 9112 3.2.2), and with the proxy's credentials, which replace those of the check.
 */
export function requestForProxy(
  request: HopRequest,
  { authorization }: HttpProxy,
  log: JobLog,
): HopRequest {
  const { url, headers } = request;
  const host = headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? url.host;
  if (host !== url.host) {
    log.warn(
      `the proxy sends the host of the URL to the target: the header Host (${host}) is lost`,
    );
  }
  const others = headers.filter(
    ([name]) => authorization === null || name.toLowerCase() !== 'proxy-authorization',
  );
  return {
    ...request,
    headers: authorization === null ? others : [...others, ['proxy-authorization', authorization]],
    requestTarget: shownUrl(url),
  };
}

/** Reads only the head of a 407: its body is about the proxy, and may never end. */
export function planBehindProxy(
  planOf: (head: ResponseHead) => BodyPlan,
): (head: ResponseHead) => BodyPlan {
  return (head) => (head.status === AUTHENTICATION_REQUIRED ? { kind: 'none' } : planOf(head));
}

interface Answered {
  readonly exchange: ExchangeResult | null;
  readonly failure: Failure | null;
}

/** A 407 comes from the proxy, so it says nothing about the target. */
export function hopThroughProxy<Hop extends Answered>(
  hop: Hop,
  request: HopRequest,
  proxy: HttpProxy,
  { log, scrub }: Pick<ProbeContext, 'log' | 'scrub'>,
): Hop {
  const { exchange } = hop;
  const head = exchange?.head ?? null;
  if (exchange === null || head === null) return hop;
  if (GATEWAY_STATUSES.has(head.status)) {
    log.warn(`the ${head.status} may be the proxy's own: it could not reach the target then`);
  }
  if (head.status === 401 && proxy.authorization !== null) {
    log.warn("the 401 may be the proxy's own: some proxies answer 401 to a wrong user or password");
  }
  if (head.status !== AUTHENTICATION_REQUIRED) return hop;
  const answer = { status: head.status, reason: head.statusText };
  const failure = credentialsFailure(proxy, requestText(request, { scrub }), answer, scrub);
  return { ...hop, exchange: { ...exchange, head: null, body: null }, failure };
}
