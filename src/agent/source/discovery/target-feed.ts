import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { ThrottledLog } from '../../../runtime/throttled-log.ts';
import { sleep } from '../../../runtime/wait.ts';
import type { TargetsFrom } from '../../config/targets-from.ts';
import type { Dispatchers } from '../../service-client/dispatchers.ts';
import { parseInThread } from '../common/parse-in-thread.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import { FileReader } from './file-reader.ts';
import {
  type DocumentTargets,
  readTargetDocuments,
  type TargetsRead,
  type TargetText,
} from './target-document.ts';
import {
  type FoundDocument,
  type KnownDocument,
  READ_LIMIT_MS,
  type TargetReader,
} from './target-reader.ts';
import type { TargetJob } from './target-worker.ts';
import { UrlReader } from './url-reader.ts';

export interface FeedParts {
  readonly dispatchers: Dispatchers;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  /** Shared by all feeds. */
  readonly limiters: { readonly files: ConcurrencyLimit; readonly threads: ConcurrencyLimit };
  /** The compiled target-worker. */
  readonly workerUrl: URL;
}

const LOG_PERIOD_MS = 600_000;
/** Parsing a longer text would falsify the times of checks. */
const MAX_INLINE_CHARS = 4 * 1024;

interface Known extends KnownDocument {
  readonly read: TargetsRead;
}

/** Reads the targets of one check periodically. Keeps the last targets of an unusable document. */
export class TargetFeed {
  readonly checkId: string;
  readonly #parts: FeedParts;
  readonly #reader: TargetReader;
  readonly #throttled: ThrottledLog;
  #documents: readonly DocumentTargets[] = [];
  #hasTried = false;
  /** The documents that were parsed last, also those that cannot be used, by name. */
  #known: ReadonlyMap<string, Known> = new Map();

  constructor({ checkId, document }: TargetsFrom, parts: FeedParts) {
    const { clock, log, limiters } = parts;
    this.checkId = checkId;
    this.#parts = parts;
    this.#reader =
      document.kind === 'file'
        ? new FileReader(document.path, { clock, limiter: limiters.files })
        : new UrlReader(document.url, parts);
    this.#throttled = new ThrottledLog(clock, log, { periodMs: LOG_PERIOD_MS });
  }

  get documents(): readonly DocumentTargets[] {
    return this.#documents;
  }

  /** Whether all documents were read once, usable or not, or reading them takes too long. */
  get hasTried(): boolean {
    return this.#hasTried;
  }

  /** Reads until the signal aborts. Never rejects. */
  async watch(onChange: () => void, signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const onTried = (): void => {
      this.#hasTried = true;
      onChange();
    };
    // Other checks must not wait for a file or server that does not answer.
    const cancel = clock.after(READ_LIMIT_MS, onTried);
    do {
      const isChanged = await this.#read(signal);
      cancel();
      if (signal.aborted) return;
      if (isChanged || !this.#hasTried) onTried();
    } while (await sleep(clock, this.#reader.periodMs, signal));
  }

  /** @returns whether there are other targets now */
  async #read(signal: AbortSignal): Promise<boolean> {
    try {
      const found = await this.#reader.find(this.#known, signal);
      this.#known = await this.#parsed(found, signal);
      const documents = [...this.#known].map(([name, { read }]) => {
        if (typeof read === 'string') throw new Error(`${name} ${read}`);
        return { name, groups: read };
      });
      const isChanged = !isSame(documents, this.#documents);
      this.#documents = documents;
      this.#recovered();
      return isChanged;
    } catch (thrown) {
      if (signal.aborted) return false;
      const what = 'the targets of a check cannot be read; its last ones remain';
      this.#throttled.warn('targets', { checkId: this.checkId }, `${what}: ${messageOf(thrown)}`);
      return false;
    }
  }

  async #parsed(
    found: readonly FoundDocument[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Known>> {
    const texts = found.flatMap(({ language, text }) => (text === null ? [] : { language, text }));
    const read = (await this.#parse(texts, signal)).values();
    const known = new Map<string, Known>();
    for (const { name, stamp, text } of found) {
      const before = this.#known.get(name);
      const parsed = text === null ? before?.read : read.next().value;
      const chars = text?.length ?? before?.chars ?? 0;
      if (parsed !== undefined) known.set(name, { stamp, chars, read: parsed });
    }
    return known;
  }

  async #parse(texts: readonly TargetText[], signal: AbortSignal): Promise<readonly TargetsRead[]> {
    const { limiters, workerUrl } = this.#parts;
    const chars = texts.reduce((sum, { text }) => sum + text.length, 0);
    if (chars <= MAX_INLINE_CHARS) return readTargetDocuments(texts);
    const job: TargetJob = { texts };
    const work = { file: this.#reader.name, tooLargeCode: 'TARGETS_TOO_LARGE', signal };
    return limiters.threads.run(() => parseInThread<readonly TargetsRead[]>(workerUrl, job, work));
  }

  #recovered(): void {
    if (!this.#throttled.clear()) return;
    const { checkId } = this;
    // At the level of the problem: whoever saw it must also see its end.
    this.#parts.log.warn({ checkId }, 'the targets of a check can be read again');
  }
}

function isSame(one: readonly DocumentTargets[], other: readonly DocumentTargets[]): boolean {
  return one.length === other.length && one.every(({ groups }, at) => groups === other[at]?.groups);
}
