import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { z } from 'zod';
import { retryAfterMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf, systemCodeOf } from '../../runtime/errors.ts';
import type { OtlpConfig } from '../config/otlp.ts';
import { type Scrub, shortenedReadable } from '../secrets/cut-scrubbed.ts';
import { Dispatchers } from '../service-client/dispatchers.ts';
import { readResponseBody } from '../service-client/response-body.ts';
import type { ExportSignal } from './export-drops.ts';

/**
 * - `accepted`: except for `rejected` of it, with `problem` as the reason (partial success)
 * - `unavailable`: the request can be repeated after `retryAfterMs`
 * - `refused`: permanently
 * - `stopped`: the signal aborted, or the client was closed
 */
export type SendOutcome =
  | { readonly kind: 'accepted'; readonly rejected: number; readonly problem: string }
  | { readonly kind: 'unavailable'; readonly problem: string; readonly retryAfterMs: number }
  | { readonly kind: 'refused'; readonly problem: string }
  | { readonly kind: 'stopped' };

export interface OtlpClientOptions {
  readonly config: Pick<OtlpConfig, 'endpoint' | 'headers' | 'proxies'>;
  readonly clock: Clock;
  /** For the user-agent header. */
  readonly version: string;
  /** Masks secrets in texts of responses. */
  readonly scrub: Scrub;
}

const PATHS: Readonly<Record<ExportSignal, string>> = {
  metrics: '/v1/metrics',
  traces: '/v1/traces',
};
/** From the request to the whole response: the default of OTEL_EXPORTER_OTLP_TIMEOUT. */
const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_RETRY_AFTER_MS = 3_600_000;
const MAX_PROBLEM_CHARS = 300;
/** OTLP, "Failures": after all other statuses the same request would be refused again. */
const UNAVAILABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const gzipBytes = promisify(gzip);

/** A partial success: ExportMetricsPartialSuccess, ExportTracePartialSuccess. */
const count = z.union([z.string(), z.number()]).optional();
const answerSchema = z.object({
  partialSuccess: z
    .object({
      rejectedDataPoints: count,
      rejectedSpans: count,
      errorMessage: z.string().optional(),
    })
    .nullish(),
});

/** Sends requests of OTLP over HTTP with JSON. Failures are values. It neither retries nor logs. */
export class OtlpClient {
  readonly #options: OtlpClientOptions;
  readonly #dispatchers: Dispatchers;

  constructor(options: OtlpClientOptions) {
    const { config, clock } = options;
    this.#options = options;
    this.#dispatchers = new Dispatchers({
      proxies: config.proxies,
      clock,
      connections: 2,
      connectTimeoutMs: TIMEOUT_MS,
    });
  }

  async send(kind: ExportSignal, body: object, signal: AbortSignal): Promise<SendOutcome> {
    const { clock } = this.#options;
    if (signal.aborted) return { kind: 'stopped' };
    const ended = new AbortController();
    const onAbort = (): void => ended.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    let isLate = false;
    const cancel = clock.after(TIMEOUT_MS, () => {
      isLate = true;
      ended.abort();
    });
    try {
      return await this.#exchange(kind, body, ended.signal);
    } catch (error) {
      if (signal.aborted || this.#dispatchers.isDestroyed) return { kind: 'stopped' };
      const why = isLate
        ? `no complete answer within ${TIMEOUT_MS / 1000} s`
        : (systemCodeOf(error) ?? messageOf(error));
      return { kind: 'unavailable', problem: this.#shown(why), retryAfterMs: 0 };
    } finally {
      cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Ends requests in progress as if their signals had aborted. */
  async close(): Promise<void> {
    await this.#dispatchers.destroy();
  }

  async #exchange(kind: ExportSignal, body: object, signal: AbortSignal): Promise<SendOutcome> {
    const { config, version, clock } = this.#options;
    const url = new URL(`${config.endpoint}${PATHS[kind]}`);
    const route = this.#dispatchers.routeTo(url);
    const packed = await gzipBytes(JSON.stringify(body), { level: constants.Z_BEST_SPEED });
    const response = await route.dispatcher.request({
      origin: url.origin,
      path: route.path,
      method: 'POST',
      headers: {
        'user-agent': `vedette/${version}`,
        ...config.headers,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        accept: 'application/json',
        ...route.headers,
      },
      body: packed,
      signal,
    });
    const { statusCode: status, headers } = response;
    const answer = await readResponseBody(
      response.body,
      textOf(headers['content-encoding']),
      MAX_ANSWER_BYTES,
    );
    const text = answer.ok ? answer.bytes.toString('utf8') : '';
    if (status >= 200 && status < 300) return this.#accepted(text);
    const said = text === '' ? '' : `: ${text}`;
    const problem = this.#shown(`status ${status}${said}`);
    if (!UNAVAILABLE.has(status)) return { kind: 'refused', problem };
    const after = retryAfterMs(textOf(headers['retry-after']), clock.wallMs(), MAX_RETRY_AFTER_MS);
    return { kind: 'unavailable', problem, retryAfterMs: after ?? 0 };
  }

  /** A response that cannot be read is a success, too, because of its status. */
  #accepted(text: string): SendOutcome {
    const partial = answerSchema.safeParse(jsonOf(text)).data?.partialSuccess;
    const rejected = Number(partial?.rejectedDataPoints ?? partial?.rejectedSpans ?? 0);
    const isCount = Number.isSafeInteger(rejected) && rejected > 0;
    const problem = this.#shown(partial?.errorMessage ?? '');
    return { kind: 'accepted', rejected: isCount ? rejected : 0, problem };
  }

  /** On one line: a text of the receiver may have many. */
  #shown(text: string): string {
    const line = shortenedReadable(text, MAX_PROBLEM_CHARS, this.#options.scrub, (scrubbed) =>
      scrubbed.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '),
    );
    return line === '' ? 'no reason' : line;
  }
}

function textOf(value: string | readonly string[] | undefined): string | null {
  return (typeof value === 'string' ? value : value?.[0]) ?? null;
}

/** Undefined if the text is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
