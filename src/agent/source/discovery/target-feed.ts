import { readdir } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf, systemCodeOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { ThrottledLog } from '../../../runtime/throttled-log.ts';
import { sleep } from '../../../runtime/wait.ts';
import type { TargetDocument, TargetsFrom } from '../../config/targets-from.ts';
import type { Dispatchers } from '../../service-client/dispatchers.ts';
import { readResponseBody } from '../../service-client/response-body.ts';
import { readInputText } from '../file/check-file-text.ts';
import { type TargetDocument as ReadDocument, readTargetDocument } from './target-document.ts';

export interface FeedParts {
  readonly dispatchers: Dispatchers;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
}

/** From one reading of files to the next. */
const FILE_PERIOD_MS = 10_000;
/** As Prometheus has it by default (`refresh_interval` of http_sd). */
const URL_PERIOD_MS = 60_000;
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_FILES = 1_000;
const LOG_PERIOD_MS = 600_000;

interface Text {
  /** For messages: a path or a URL. */
  readonly name: string;
  readonly language: 'JSON' | 'YAML';
  readonly text: string;
}

/** The targets of one check, read again and again. While a document cannot be used, its last targets remain. */
export class TargetFeed {
  readonly checkId: string;
  readonly #document: TargetDocument;
  readonly #parts: FeedParts;
  readonly #throttled: ThrottledLog;
  #documents: readonly ReadDocument[] = [];
  #hasTried = false;
  /** What the groups were made of; null before. */
  #readTexts: string | null = null;

  constructor({ checkId, document }: TargetsFrom, parts: FeedParts) {
    this.checkId = checkId;
    this.#document = document;
    this.#parts = parts;
    const { clock, log } = parts;
    this.#throttled = new ThrottledLog(clock, log, { periodMs: LOG_PERIOD_MS });
  }

  get documents(): readonly ReadDocument[] {
    return this.#documents;
  }

  /** It was read once, whether or not it could be used. */
  get hasTried(): boolean {
    return this.#hasTried;
  }

  /** Reads until the signal aborts. Never rejects. */
  async watch(onChange: () => void, signal: AbortSignal): Promise<void> {
    const periodMs = this.#document.kind === 'file' ? FILE_PERIOD_MS : URL_PERIOD_MS;
    do {
      const isChanged = await this.#read(signal);
      if (signal.aborted) return;
      const isFirst = !this.#hasTried;
      this.#hasTried = true;
      if (isChanged || isFirst) onChange();
    } while (await sleep(this.#parts.clock, periodMs, signal));
  }

  /** @returns whether there are other groups now */
  async #read(signal: AbortSignal): Promise<boolean> {
    try {
      const texts = await this.#texts(signal);
      const all = JSON.stringify(texts);
      if (all === this.#readTexts) {
        this.#recovered();
        return false;
      }
      const documents: ReadDocument[] = [];
      for (const { name, language, text } of texts) {
        const found = await readTargetDocument(text, language);
        if (typeof found === 'string') throw new Error(`${name} ${found}`);
        documents.push({ name, groups: found });
      }
      this.#readTexts = all;
      this.#documents = documents;
      this.#recovered();
      return true;
    } catch (thrown) {
      if (signal.aborted) return false;
      const what = 'the targets of a check cannot be read; its last ones remain';
      this.#throttled.warn('targets', { checkId: this.checkId }, `${what}: ${messageOf(thrown)}`);
      return false;
    }
  }

  #recovered(): void {
    if (!this.#throttled.clear()) return;
    const { checkId } = this;
    // At the level of the problem: whoever saw it must also see its end.
    this.#parts.log.warn({ checkId }, 'the targets of a check can be read again');
  }

  async #texts(signal: AbortSignal): Promise<readonly Text[]> {
    const document = this.#document;
    if (document.kind === 'url') {
      const text = await this.#fetch(document.url, signal);
      return [{ name: shownUrl(document.url), language: 'JSON', text }];
    }
    const paths = await pathsOf(document.path);
    const texts: Text[] = [];
    for (const path of paths) {
      const input = { kind: 'a list of targets', code: 'TARGETS_UNREADABLE' };
      const text = await readInputText(path, input);
      texts.push({ name: path, language: extname(path) === '.json' ? 'JSON' : 'YAML', text });
    }
    return texts;
  }

  async #fetch(url: URL, signal: AbortSignal): Promise<string> {
    const { dispatchers, clock, version } = this.#parts;
    const limit = new AbortController();
    const cancel = clock.after(TIMEOUT_MS, () => limit.abort());
    try {
      const route = dispatchers.routeTo(url);
      const response = await route.dispatcher.request({
        origin: url.origin,
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
      if (status !== 200) throw new Error(`${shownUrl(url)} answered ${status}`);
      if (!body.ok)
        throw new Error(`the answer of ${shownUrl(url)} cannot be read: ${body.problem}`);
      return body.bytes.toString('utf8');
    } catch (thrown) {
      if (limit.signal.aborted) {
        throw new Error(`${shownUrl(url)} did not answer within ${TIMEOUT_MS / 1000} s`);
      }
      const code = systemCodeOf(thrown);
      throw code === null ? thrown : new Error(`${shownUrl(url)} cannot be reached (${code})`);
    } finally {
      cancel();
    }
  }
}

/** Without the query, which is where a key would be. */
function shownUrl({ origin, pathname }: URL): string {
  return origin + pathname;
}

/** Those that a `*` stands for, sorted. */
async function pathsOf(path: string): Promise<readonly string[]> {
  const name = basename(path);
  if (!name.includes('*')) return [path];
  const [start = '', ...ends] = name.split('*');
  const matches = (file: string): boolean => {
    if (!file.startsWith(start)) return false;
    let at = start.length;
    for (const [index, part] of ends.entries()) {
      const isLast = index === ends.length - 1;
      const found = isLast ? file.length - part.length : file.indexOf(part, at);
      if (found < at || !file.startsWith(part, found)) return false;
      at = found + part.length;
    }
    return true;
  };
  const folder = dirname(path);
  const found = (await readdir(folder)).filter(matches).sort();
  if (found.length > MAX_FILES) throw new Error(`${path} stands for more than ${MAX_FILES} files`);
  return found.map((file) => join(folder, file));
}
