import type { ClientCertificate } from '../../../model/check/client-certificate.ts';
import { maskHeaders } from '../../../model/credentials/sensitive-headers.ts';
import type {
  FamilyOutcome,
  TcpFacts,
  TlsFacts,
} from '../../../model/result/details/check-detail.ts';
import type {
  HttpRequestEcho,
  HttpResponse,
  HttpTimingPhases,
  HttpTimings,
} from '../../../model/result/details/http-detail.ts';
import type { Failure } from '../../../model/result/error-codes.ts';
import { parseProxy } from '../../../runtime/net/proxy/proxy-url.ts';
import { millisecondsText } from '../../../runtime/text/duration-text.ts';
import { soughtFamily } from '../../net/address-family.ts';
import { unusableProxy } from '../../net/proxy/proxy-failures.ts';
import { shortenedText } from '../../secrets/cut-scrubbed.ts';
import type { ProbeContext, ProbeOutcome } from '../probe.ts';
import type { Authorizer } from './auth/authorizer.ts';
import { runAuthorizedHop, withoutThose } from './authorized-hop.ts';
import type { BodyMemory } from './body/body-memory.ts';
import { storedBodyOf } from './body/stored-body.ts';
import type { BodyPlan } from './exchange.ts';
import type { Hop } from './hop.ts';
import { httpTimingPhases, timingsOf } from './phases.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { receiversOf } from './receivers.ts';
import { allowedRedirect, NO_REDIRECT, type Redirect, redirectOf } from './redirects.ts';
import { requestText, shownUrl } from './shown-url.ts';
import type { HopRequest, ResponseHead } from './transport.ts';

export interface HttpOutcome
  extends ProbeOutcome<HttpRequestEcho, HttpResponse, HttpTimings, HttpTimingPhases> {
  /** TLS facts of the last hop; also without a response. */
  readonly tls: TlsFacts | null;
  /** TCP facts of the last hop; also without a response. */
  readonly tcp: TcpFacts | null;
  /** With ANY only: those that were tried in the last hop. */
  readonly families: readonly FamilyOutcome[] | undefined;
  /** The kernel timed connecting or the first byte, in one hop at least. */
  readonly isTimedByKernel: boolean;
  /** A connection was ready for the request, so the target may have acted on it. */
  readonly sent: boolean;
  /** The kernel's lower bound of the servers' time; 0 if it is not available. */
  readonly peerMs: number;
  /** One of the requests was for http: others on the route can read it. */
  readonly unencrypted: boolean;
  /** The decoded bytes that were retained for assertions; null without a response. */
  readonly body: Buffer | null;
  /** Memory needed for the body that assertions read; 0 if there was enough. */
  readonly lackedBytes: number;
}

export interface HttpProbeOptions {
  readonly clientCertificates: readonly ClientCertificate[];
  /** The proxy of the location, for each hop; null for direct connections. */
  readonly proxyUrl: string | null;
  /** Whether the whole body is wanted for assertions, up to 25 MB, or only what a result stores. */
  readonly keepBody: boolean;
  /** For bodies that are longer than a result stores; null: unlimited, for assertions only. */
  readonly room: BodyMemory | null;
  /** Authenticates requests to the origin of the check. */
  readonly auth?: Authorizer | null;
}

/** src/model/README.md, "API: `request`": a body is read to 25 MB. */
const MAX_BODY_BYTES = 25 * 1024 * 1024;
/** One byte more than a result stores of a binary body, to detect longer ones. */
const STORED_BODY_BYTES = 50 * 1024 + 1;

/** A reason phrase is free text of the target. */
const MAX_STATUS_TEXT_CHARS = 500;

type RedirectInfo = HttpResponse['redirects'][number];

/**
 * Sends a URL or API check's request and follows redirects, each hop over its own connection, which
 * is closed before this resolves. Resolves at the context's deadline at the latest.
 *
 * With a proxy, https requests use a tunnel (CONNECT), and http requests the absolute form (RFC
 * 9112 3.2.2), or a tunnel if TARGET_DENY is set: see connectThroughProxy.
 */
export async function probeHttp(
  prepared: PreparedRequest,
  context: ProbeContext,
  options: HttpProbeOptions,
): Promise<HttpOutcome> {
  const { clock } = context;
  // Later by the time of authentication, which is not the target's.
  let startMs = clock.monotonicMs();
  for (const note of prepared.notes) context.log.warn(note);
  const hops: Hop[] = [];
  const redirects: RedirectInfo[] = [];
  const { skipSSL, followRedirects } = prepared;
  const ipFamily = soughtFamily(prepared.ipFamily);
  const { clientCertificates, proxyUrl } = options;
  const proxy = proxyUrl === null ? null : parseProxy(proxyUrl);
  const route = { proxy, skipSSL, clientCertificates };
  let request: HopRequest = prepared;
  let http1Only = false;
  let unencrypted = false;
  let authHeaders: HopRequest['headers'] = [];
  const ended = (hop: Hop, failure: Failure | null): HttpOutcome => {
    const { url } = request;
    const seen = { hops, hop, redirects, failure, startMs, unencrypted, authHeaders };
    return outcomeOf({ prepared, url, ...seen }, options, context);
  };
  const proxyFailure = unusableProxy(proxyUrl, proxy);
  if (proxyFailure !== null)
    return ended(unstartedHop(prepared, proxyFailure, startMs), proxyFailure);
  for (;;) {
    const current = request;
    const judge = (head: ResponseHead): Redirect =>
      followRedirects
        ? allowedRedirect(
            redirectOf(current, head, redirects.length, context.scrub),
            context.operatorSecrets,
            (next) => receiversOf(next, route),
          )
        : NO_REDIRECT;
    const redirectIn = ({ exchange }: Hop): Redirect =>
      exchange === null || exchange.head === null ? NO_REDIRECT : judge(exchange.head);
    const sent = await runAuthorizedHop(
      current,
      {
        ...route,
        ipFamily,
        http1Only,
        planOf: (head) => bodyPlanOf(current.method, head, judge(head), options),
        auth: current.url.origin === prepared.url.origin ? (options.auth ?? null) : null,
        onHop: (hop) => logHop(current, hop, redirectIn(hop), context),
      },
      context,
    );
    startMs += sent.authMs;
    if (!sent.ok) {
      return ended(unstartedHop(prepared, sent.failure, clock.monotonicMs()), sent.failure);
    }
    const { hop } = sent;
    authHeaders = sent.authHeaders;
    unencrypted ||= current.url.protocol === 'http:';
    hops.push(hop);
    if (hop.exchange?.ending?.http1Required && !http1Only) {
      context.log.info('The server requires this request over HTTP/1.1: sending it again');
      http1Only = true;
      continue;
    }
    const head = hop.exchange?.head ?? null;
    const redirect = redirectIn(hop);
    if (head !== null && redirect.kind === 'follow' && hop.failure === null) {
      redirects.push({ status: head.status, url: shownUrl(current.url) });
      request = redirect.request;
      continue;
    }
    startMs += hops.reduce((sumMs, each) => sumMs + each.unseenMs, 0);
    return ended(
      hop,
      hop.failure ?? redirectFailure(current, redirect, hop.endMs - startMs, context),
    );
  }
}

function unstartedHop({ ipFamily }: PreparedRequest, failure: Failure, nowMs: number): Hop {
  return {
    startMs: nowMs,
    endMs: nowMs,
    unseenMs: 0,
    isTimedByKernel: false,
    peerMs: 0,
    dnsMs: 0,
    tcpMs: 0,
    tlsMs: 0,
    reached: 'nothing',
    address: null,
    endpoint: null,
    ipFamily: ipFamily === 'IPv6' ? 'IPv6' : 'IPv4',
    families: undefined,
    tls: null,
    tcp: null,
    exchange: null,
    failure,
  };
}

function bodyPlanOf(
  method: string,
  head: ResponseHead,
  redirect: Redirect,
  { keepBody, room }: Pick<HttpProbeOptions, 'keepBody' | 'room'>,
): BodyPlan {
  // RFC 9112 6.3: these responses end with their head, whatever length they announce.
  if (method === 'HEAD' || head.status === 204 || head.status === 304) return { kind: 'none' };
  // The relevant part of a redirect is its Location; its body might never end.
  if (redirect.kind === 'follow') return { kind: 'none' };
  const maxBytes = MAX_BODY_BYTES;
  const ownBytes = STORED_BODY_BYTES;
  if (room === null) return { kind: 'read', maxBytes, keepBytes: keepBody ? maxBytes : ownBytes };
  const use = keepBody ? 'assertions' : 'detail';
  return { kind: 'read', maxBytes, keepBytes: maxBytes, memory: { ownBytes, shared: room, use } };
}

/** A reader doubles its memory to get more. */
function memoryFor(bodyBytes: number): number {
  return Math.min(MAX_BODY_BYTES, 2 * bodyBytes);
}

function redirectFailure(
  request: HopRequest,
  redirect: Redirect,
  afterMs: number,
  context: ProbeContext,
): Failure | null {
  if (redirect.kind !== 'refused') return null;
  const { code, why } = redirect;
  const message = `${requestText(request, context)}: ${why} (after ${millisecondsText(afterMs)})`;
  return { code, message };
}

function logHop(request: HopRequest, hop: Hop, redirect: Redirect, context: ProbeContext): void {
  const { exchange, address } = hop;
  const { dns, tcp, tls, firstByte, download, total } = httpTimingPhases(
    [hop],
    hop.startMs,
    hop.endMs,
  );
  const times = `dns ${dns} ms, tcp ${tcp} ms, tls ${tls} ms, firstByte ${firstByte} ms, download ${download} ms, total ${total} ms`;
  const head = exchange?.head ?? null;
  const answer = head === null ? 'no response' : `${head.status} (HTTP/${head.httpVersion})`;
  const from = address === null ? '' : ` from ${address}`;
  context.log.info(`${requestText(request, context)}: ${answer}${from}; ${times}`);
  if (redirect.kind === 'follow') {
    context.log.info(`Redirected to ${shownUrl(redirect.request.url)}${redirect.left}`);
  }
}

interface Ended {
  readonly prepared: PreparedRequest;
  readonly url: URL;
  readonly hops: readonly Hop[];
  readonly hop: Hop;
  readonly redirects: readonly RedirectInfo[];
  readonly failure: Failure | null;
  /** Later by the unseen time of the hops. */
  readonly startMs: number;
  readonly unencrypted: boolean;
  /** Added to the last request by `auth`. */
  readonly authHeaders: HopRequest['headers'];
}

function outcomeOf(
  ended: Ended,
  { keepBody }: HttpProbeOptions,
  { scrub }: ProbeContext,
): HttpOutcome {
  const { prepared, url, hops, hop, redirects, failure, startMs, unencrypted } = ended;
  const { headers: ownHeaders } = prepared.echo;
  const kept = withoutThose(Object.entries(ownHeaders), ended.authHeaders);
  const added = maskHeaders(Object.fromEntries(ended.authHeaders));
  const timings = timingsOf(hop, startMs);
  const timingPhases = httpTimingPhases(hops, startMs, hop.endMs);
  const { tls, tcp, address, endpoint, ipFamily, families, exchange } = hop;
  const sent = hops.some((each) => each.exchange !== null);
  const facts = {
    request: { ...prepared.echo, headers: { ...Object.fromEntries(kept), ...added } },
    sent,
    peerMs: hops.reduce((sumMs, each) => sumMs + each.peerMs, 0),
    isTimedByKernel: hops.some((each) => each.isTimedByKernel),
    unencrypted,
    endpoint,
    failure,
    timings,
    timingPhases,
    tls,
    tcp,
    families,
    lackedBytes: 0,
  };
  const responseTimeMs = timingPhases.total;
  const head = exchange?.head ?? null;
  const body = exchange?.body ?? null;
  if (head === null || body === null || address === null) {
    return { ...facts, response: null, body: null, responseTimeMs };
  }
  const contentType = head.headers['content-type'];
  const response: HttpResponse = {
    ...head,
    statusText: shortenedText(head.statusText, MAX_STATUS_TEXT_CHARS, scrub),
    ...storedBodyOf(body, typeof contentType === 'string' ? contentType : null, scrub),
    ip: address,
    ipFamily,
    url: shownUrl(url),
    redirects,
    tls,
    timings,
    timingPhases,
  };
  const lackedBytes = keepBody && body.lackedMemory ? memoryFor(body.totalBytes) : 0;
  return { ...facts, response, body: body.bytes, lackedBytes, responseTimeMs };
}
