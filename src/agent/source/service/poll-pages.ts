import type { OneOffMessage } from '../../../wire/v1/assignment.ts';
import type { PollResponse } from '../../../wire/v1/poll.ts';
import type { ServiceFailure } from '../../service-client/service-failure.ts';
import { MAX_CHECKS_MIB } from './assigned-checks.ts';

/** Maximum pages of one answer. All checks of an agent fit in far fewer. */
const MAX_PAGES = 1_000;
const MAX_CHECKS_BYTES = MAX_CHECKS_MIB * 1024 * 1024;
/** Maximum JSON of an answer's pages with one-off runs. The service sends the others again. */
const MAX_RUN_PAGES_BYTES = 256 * 1024 * 1024;

const TOO_MANY_PAGES = failed(`the service's answer to a poll has more than ${MAX_PAGES} pages`);
/** The bytes of replaced checks count, too, until all checks are requested again. */
export const TOO_MANY_CHANGES = failed(
  `the service's changes of checks have more than ${MAX_CHECKS_MIB} MiB: all checks are requested again`,
);
/**
 * The size of the previous process's set is not known, so changes cannot be added to it.
 */
const NOT_ALL = failed('the service sent changes of checks although all checks were requested');

/** Which part of a page may be accepted. */
export interface OpenedPage {
  readonly isFirst: boolean;
  /** How many bytes of its checks fit; null for all of them. */
  readonly leftBytes: number | null;
  /** Why this page and those before it are rejected; null if they are not. */
  readonly failure: ServiceFailure | null;
}

/** The pages of one answer to a poll, one after the other, and how large they may be. */
export class AnswerPages {
  #next: string | null = null;
  #count = 0;
  /** Whether the answer contains the whole set or changes to it. */
  #has: 'all' | 'changes' = 'changes';
  /** Bytes of JSON of the pages so far with one-off runs. */
  #runPagesBytes = 0;
  /**
   * Bytes of JSON of the last whole set and all changes since; `#draftBytes` adds the pages so far.
   */
  #checksBytes = 0;
  #draftBytes = 0;
  /** The one-off runs in the pages so far. */
  #runs: OneOffMessage[] = [];

  /** The marker of the next page; null for the first. */
  get next(): string | null {
    return this.#next;
  }

  /**
   * Called with each page before its checks are read.
   *
   * @param bytes of its JSON
   * @param revision that was requested; 0 requests all checks
   */
  open({ full, upsert }: PollResponse, bytes: number, revision: number): OpenedPage {
    const isFirst = this.#next === null;
    if (isFirst) {
      this.#has = full ? 'all' : 'changes';
      this.#draftBytes = full ? 0 : this.#checksBytes;
    }
    const leftBytes = MAX_CHECKS_BYTES - this.#draftBytes;
    const isWithin = upsert.length === 0 || bytes <= leftBytes;
    let failure: ServiceFailure | null = null;
    if (this.#has === 'changes') {
      if (revision === 0 && upsert.length > 0) failure = NOT_ALL;
      else if (!isWithin) failure = TOO_MANY_CHANGES;
    }
    // Measuring each check takes time, so only if the page may exceed the limit.
    return { isFirst, leftBytes: isWithin ? null : leftBytes, failure };
  }

  /**
   * Called with each page after its checks were read.
   *
   * @param takenBytes of its checks; null: all of them were taken
   * @returns why no further page is requested; null if one may be
   */
  add(
    { upsert, runs, nextPage }: PollResponse,
    bytes: number,
    takenBytes: number | null,
  ): ServiceFailure | null {
    if (upsert.length > 0) this.#draftBytes += takenBytes ?? bytes;
    if (runs.length > 0) {
      this.#runPagesBytes += bytes;
      if (this.#runPagesBytes <= MAX_RUN_PAGES_BYTES) this.#runs.push(...runs);
    }
    this.#next = nextPage;
    this.#count += 1;
    return this.#count < MAX_PAGES ? null : TOO_MANY_PAGES;
  }

  /** Called after the last page. @returns the one-off runs of all pages */
  finish(): readonly OneOffMessage[] {
    const runs = this.#runs;
    this.#checksBytes = this.#draftBytes;
    this.discard();
    return runs;
  }

  /** Forgets the pages so far: the answer is requested again, or is complete. */
  discard(): void {
    this.#next = null;
    this.#count = 0;
    this.#runPagesBytes = 0;
    this.#runs = [];
  }
}

function failed(message: string): ServiceFailure {
  return { kind: 'failed', status: null, message, retryAfterMs: null, attributes: {} };
}
