import { MASK } from '../../model/credentials/mask.ts';
import { testSessionErrorGroupId } from '../../model/result/error-group.ts';
import {
  MAX_SESSION_MISSED,
  MAX_SESSION_RESULTS,
  type TestSessionFacts,
} from '../../model/result/test-session.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createYielder } from '../../runtime/event-loop.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { ReceivedResult } from '../../wire/v1/check-result.ts';
import type { AccountKey } from '../database/account-key.ts';
import { everyHour } from '../database/every-hour.ts';
import { removePastRetention } from '../database/retention.ts';
import type { Store } from '../database/store.ts';
import type { ErrorGroups } from '../error-groups/error-groups.ts';
import { knownFactsOf, withErrorGroups } from '../error-groups/known-facts.ts';
import { occurrencesOf } from '../error-groups/occurrences.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import { unstorableTexts } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import type { SecretScrubbing } from '../secrets/secret-scrubbing.ts';
import { readReport } from './read-report.ts';
import {
  deleteTestSession,
  deleteTestSessionsBefore,
  findTestSession,
  insertSessionResults,
  insertTestSession,
  listSessionResults,
  listTestSessions,
  lockTestSession,
  putTotals,
  type StoredTestSession,
} from './sql.ts';
import { totalsWith } from './totals.ts';

export type { StoredTestSession } from './sql.ts';

export interface TestSessionsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly errorGroups: Pick<ErrorGroups, 'add'>;
  readonly scrubbing: SecretScrubbing;
  /** Whole days, as for results of checks. */
  readonly retentionDays: number;
  /** The most results of a session. */
  readonly maxResults?: number;
}

/** A run of a check file outside the service, or a part of it. */
export interface TestSessionReport {
  /** Chosen by the caller; null for a new one. */
  readonly id: string | null;
  readonly facts: TestSessionFacts;
  /** As `vedette run --output json` prints them, as is `missed`. */
  readonly results: readonly unknown[];
  readonly missed: readonly unknown[];
}

export interface SessionResultQuery extends Page {
  readonly resultType: 'FINAL' | 'ATTEMPT' | 'ALL';
  readonly hasFailures: boolean | null;
}

/** Runs of check files outside the service. */
export interface TestSessions {
  /**
   * Creates a session, or adds to the session with the id. Ignores results that the session already has, so a caller
   * may repeat a report or send a long run in parts. The facts of the first part are stored.
   *
   * @throws ServiceError 400 for an invalid result, 409 where the session has too many; stores nothing
   *   then
   */
  add(
    accountId: string,
    report: TestSessionReport,
  ): Promise<{ readonly session: StoredTestSession; readonly isNew: boolean }>;
  /** @throws ServiceError 404 */
  get(key: AccountKey): Promise<StoredTestSession>;
  /** Newest first. @throws ServiceError 400 where the page is too large, as of `results` */
  list(
    accountId: string,
    query: Page & { readonly projectId: string | null },
  ): Promise<readonly StoredTestSession[]>;
  /**
   * JSON texts, in the order in which the runs began.
   *
   * @throws ServiceError 404, 400 where the page is too large: a single result never is
   */
  results(key: AccountKey, query: SessionResultQuery): Promise<readonly string[]>;
  /** Deletes its results, too, but no error groups. @throws ServiceError 404 */
  remove(key: AccountKey): Promise<void>;
  /** About every hour, until the signal aborts, deletes sessions past the retention. Logs what fails. */
  maintain(signal: AbortSignal): Promise<void>;
}

/** Few, since their results are deleted in the same statement. */
const SESSIONS_AT_ONCE = 10;
const ALL_TYPES = ['FINAL', 'ATTEMPT'] as const;
const MAX_PAGE_BYTES = 16 * 1024 * 1024;

export function createTestSessions(parts: TestSessionsParts): TestSessions {
  const { store, clock, ids, errorGroups, scrubbing } = parts;
  const { maxResults = MAX_SESSION_RESULTS } = parts;

  return {
    async add(accountId, { id: chosenId, facts: given, ...records }) {
      const notKept = unstorableTexts(given);
      if (notKept.length > 0) throw invalid(notKept);
      const yieldWhenDue = createYielder(clock);
      const read = await readReport(records, yieldWhenDue);
      const received = await scrubbing.results(store, accountId, read.results);
      const facts = scrubbedFacts(given, await scrubbing.scrubberOf(store, accountId));
      const id = chosenId ?? ids();
      return store.transaction(async (tx) => {
        const atMs = clock.wallMs();
        const isNew = await insertTestSession(tx, { accountId, id, facts, createdAtMs: atMs });
        const before = await lockTestSession(tx, { accountId, id });
        if (before === null) throw notFound('test session');
        const { projectId, environment } = before.facts;
        const results: ReceivedResult[] = [];
        for (const result of received) {
          results.push(inProject(result, accountId, projectId));
          await yieldWhenDue();
        }
        const added = await insertSessionResults(tx, { accountId, id, results });
        const own = firstOfEach(results).filter((result) => added.has(result.id));
        const totals = totalsWith(before, own, read.missed);
        if (totals.results > maxResults) throw tooMany('results', maxResults);
        if (totals.missed.length > MAX_SESSION_MISSED) throw tooMany('missed', MAX_SESSION_MISSED);
        const scope = {
          scope: projectId ?? '',
          environment,
          idOf: (hash: string) => testSessionErrorGroupId(accountId, projectId, hash),
        };
        const occurrences = occurrencesOf(own, () => scope, atMs);
        await errorGroups.add(tx, accountId, 'test-session', occurrences);
        const isChanged = own.length > 0 || totals.missed.length > before.missed.length;
        if (!isChanged) return { session: before, isNew };
        const updatedAtMs = isNew ? null : atMs;
        const session = await putTotals(tx, { accountId, id, totals, updatedAtMs });
        if (session === null) throw notFound('test session');
        return { session, isNew };
      });
    },

    async get(key) {
      const found = await findTestSession(store, key);
      if (found === null) throw notFound('test session');
      return found;
    },

    async list(accountId, { projectId, ...page }) {
      const asked = { accountId, projectId, ...rangeOf(page) };
      const found = await listTestSessions(store, asked, MAX_PAGE_BYTES);
      if (found === null) throw pageTooLarge('the missed runs of these sessions have');
      return found;
    },

    async results(key, { resultType, hasFailures, ...page }) {
      if ((await findTestSession(store, key)) === null) throw notFound('test session');
      const resultTypes = ALL_TYPES.filter((type) => resultType === 'ALL' || type === resultType);
      const asked = { ...key, resultTypes, hasFailures, ...rangeOf(page) };
      const found = await listSessionResults(store, asked, MAX_PAGE_BYTES);
      if (found === null) throw pageTooLarge('these results have');
      return found;
    },

    async remove(key) {
      if (!(await deleteTestSession(store, key))) throw notFound('test session');
    },

    async maintain(signal) {
      await everyHour(
        parts,
        'test sessions past their retention could not be removed',
        () =>
          removePastRetention(
            parts,
            SESSIONS_AT_ONCE,
            (old) => deleteTestSessionsBefore(store, old),
            signal,
          ),
        signal,
      );
    },
  };
}

/** Cuts masked facts: a mask may be longer than its secret, and facts have a maximum length. */
function scrubbedFacts(facts: TestSessionFacts, scrubber: Scrubber): TestSessionFacts {
  const { name, provider, repository, branch, commitId } = facts;
  const scrubbed = (fact: string | null): string | null =>
    fact && scrubber.text(fact).slice(0, Math.max(fact.length, MASK.length)).toWellFormed();
  return {
    ...facts,
    name: scrubbed(name),
    provider: scrubbed(provider),
    repository: scrubbed(repository),
    branch: scrubbed(branch),
    commitId: scrubbed(commitId),
  };
}

/** Replaces the error groups that the caller sent. */
function inProject(
  result: ReceivedResult,
  accountId: string,
  projectId: string | null,
): ReceivedResult {
  const facts = result.resultType === 'FINAL' ? knownFactsOf(result) : null;
  const groups =
    facts === null ? [] : [testSessionErrorGroupId(accountId, projectId, facts.errorHash)];
  return withErrorGroups(result, groups);
}

/** The first of the results with the same id: only that one is stored. */
function firstOfEach(results: readonly ReceivedResult[]): readonly ReceivedResult[] {
  const first = new Map<string, ReceivedResult>();
  for (const result of results) if (!first.has(result.id)) first.set(result.id, result);
  return [...first.values()];
}

function pageTooLarge(what: string): Error {
  const message = `must be smaller: ${what} more than ${MAX_PAGE_BYTES} bytes`;
  return invalid([{ path: 'query.limit', message }]);
}

function tooMany(what: string, limit: number): Error {
  return conflict(`The session would have more than ${limit} ${what}; start another one`, {
    limit,
  });
}
