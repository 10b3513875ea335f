import { hash } from 'node:crypto';
import type { Clock } from '../../../runtime/clock.ts';
import { systemCodeOf } from '../../../runtime/errors.ts';
import type { Dispatchers } from '../../service-client/dispatchers.ts';
import { readResponseBody } from '../../service-client/response-body.ts';
import {
  type FoundDocument,
  type KnownDocument,
  MAX_BYTES,
  READ_LIMIT_MS,
  type TargetReader,
} from './target-reader.ts';

export interface UrlReaderParts {
  readonly dispatchers: Dispatchers;
  readonly clock: Clock;
  readonly version: string;
}

/** The default of Prometheus (`refresh_interval` of http_sd). */
const URL_PERIOD_MS = 60_000;

/** Fetches a document of http_sd. */
export class UrlReader implements TargetReader {
  readonly periodMs = URL_PERIOD_MS;
  /** The URL without its query, which may contain a key. */
  readonly name: string;
  readonly #url: URL;
  readonly #parts: UrlReaderParts;

  constructor(url: URL, parts: UrlReaderParts) {
    this.name = url.origin + url.pathname;
    this.#url = url;
    this.#parts = parts;
  }

  async find(
    known: ReadonlyMap<string, KnownDocument>,
    signal: AbortSignal,
  ): Promise<readonly FoundDocument[]> {
    const { name } = this;
    const text = await this.#fetch(signal);
    const stamp = hash('sha256', text);
    const isKnown = known.get(name)?.stamp === stamp;
    return [{ name, language: 'JSON', stamp, text: isKnown ? null : text }];
  }

  async #fetch(signal: AbortSignal): Promise<string> {
    const { name } = this;
    const { dispatchers, clock, version } = this.#parts;
    const limit = new AbortController();
    const cancel = clock.after(READ_LIMIT_MS, () => limit.abort());
    try {
      const route = dispatchers.routeTo(this.#url);
      const response = await route.dispatcher.request({
        origin: this.#url.origin,
        path: route.path,
        method: 'GET',
        headers: {
          'user-agent': `vedette/${version}`,
          accept: 'application/json',
          'accept-encoding': 'gzip',
          'x-prometheus-refresh-interval-seconds': String(URL_PERIOD_MS / 1000),
          ...route.headers,
        },
        signal: AbortSignal.any([limit.signal, signal]),
      });
      const { statusCode: status, headers } = response;
      const encoding = headers['content-encoding'];
      const body = await readResponseBody(
        response.body,
        typeof encoding === 'string' ? encoding : null,
        MAX_BYTES,
      );
      if (status !== 200) throw new Error(`${name} answered ${status}`);
      if (!body.ok) throw new Error(`the answer of ${name} cannot be read: ${body.problem}`);
      return body.bytes.toString('utf8');
    } catch (thrown) {
      if (limit.signal.aborted) {
        throw new Error(`${name} did not answer within ${READ_LIMIT_MS / 1000} s`);
      }
      const code = systemCodeOf(thrown);
      throw code === null ? thrown : new Error(`${name} cannot be reached (${code})`);
    } finally {
      cancel();
    }
  }
}
