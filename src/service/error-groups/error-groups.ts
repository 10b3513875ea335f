import { archiveAfter, type ErrorGroupChanges } from '../../model/result/error-group.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { everyHour } from '../database/every-hour.ts';
import { removePastRetention } from '../database/retention.ts';
import type { Sql, Store } from '../database/store.ts';
import { conflict, notFound } from '../errors.ts';
import type { Precondition } from '../http/resources/etag.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import type { FinalsHandler } from '../results/finals-handler.ts';
import { type FailedRun, findFailedRuns } from './occurrences.sql.ts';
import { checkScopeOf, occurrencesOf } from './occurrences.ts';
import {
  addOccurrences,
  archiveErrorGroup,
  countArchivedForEver,
  deleteErrorGroupsBefore,
  type ErrorGroupKind,
  type ErrorOccurrences,
  findErrorGroup,
  listErrorGroups,
  lockErrorGroup,
  removeBeyond,
  type StoredErrorGroup,
} from './sql.ts';

export type { ErrorGroupKind } from './sql.ts';

/** A root cause analysis in an error group, as that feature presents it. */
export type GroupAnalysis = Readonly<Record<string, unknown>>;

/** The analyses by the id of the group; groups without one may be omitted. */
export type AnalysesOf = (
  accountId: string,
  groupIds: readonly string[],
) => Promise<ReadonlyMap<string, readonly GroupAnalysis[]>>;

export interface ErrorGroup extends StoredErrorGroup {
  readonly analyses: readonly GroupAnalysis[];
}

export interface ErrorGroupsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Retention in whole days from the last failure; the same as for results. */
  readonly retentionDays: number;
  readonly analysesOf: AnalysesOf;
  /** Maximum number of groups of one check, or of the test sessions of one project. */
  readonly maxGroups?: number;
}

/**
 * Failures with the same cleaned message: src/service/README.md, "Error groups and test sessions".
 */
export interface ErrorGroups {
  /** @throws ServiceError 404 */
  get(accountId: string, kind: ErrorGroupKind, id: string): Promise<ErrorGroup>;
  /** Most recently seen first. `scope` is that of StoredErrorGroup. */
  list(
    accountId: string,
    kind: ErrorGroupKind,
    query: Page & { readonly scope: string | null; readonly isArchived: boolean | null },
  ): Promise<readonly ErrorGroup[]>;
  /**
   * Finds the locations of the failed runs in a group of a check.
   *
   * @throws ServiceError 404
   */
  occurrences(accountId: string, id: string): Promise<GroupOccurrences>;
  /** @throws ServiceError 404; 409 where the scope has too many groups that are archived for ever */
  update(
    accountId: string,
    kind: ErrorGroupKind,
    id: string,
    changes: ErrorGroupChanges,
    precondition?: Precondition<ErrorGroup>,
  ): Promise<ErrorGroup>;
  /** Adds failures that were not counted before. Deletes the oldest groups beyond the limit. */
  add(
    tx: Sql,
    accountId: string,
    kind: ErrorGroupKind,
    occurrences: readonly ErrorOccurrences[],
  ): Promise<void>;
  readonly follow: FinalsHandler;
  /** About every hour, until the signal aborts, deletes groups past the retention. Logs what fails. */
  maintain(signal: AbortSignal): Promise<void>;
}

export type { FailedRun } from './occurrences.sql.ts';

export interface GroupOccurrences {
  readonly checkId: string;
  /** The earliest and the latest failed run whose result is stored; null if there is none. */
  readonly first: FailedRun | null;
  readonly last: FailedRun | null;
  /** The sorted locations of the runs that were read. */
  readonly locations: readonly string[];
}

/** Maximum number of failed runs of a check that are read from each end of a group's time range. */
export const MAX_FAILURES = 500;
const MAX_GROUPS = 1_000;
/** Bounds how long a statement takes. */
const ROWS_AT_ONCE = 1_000;

export function createErrorGroups(parts: ErrorGroupsParts): ErrorGroups {
  const { store, clock, log, analysesOf, maxGroups = MAX_GROUPS } = parts;
  let dropped = 0;

  async function withAnalyses(
    accountId: string,
    groups: readonly StoredErrorGroup[],
  ): Promise<readonly ErrorGroup[]> {
    if (groups.length === 0) return [];
    const found = await analysesOf(
      accountId,
      groups.map(({ id }) => id),
    );
    return groups.map((group) => ({ ...group, analyses: found.get(group.id) ?? [] }));
  }

  async function whole(accountId: string, group: StoredErrorGroup | null): Promise<ErrorGroup> {
    const [found] = await withAnalyses(accountId, group === null ? [] : [group]);
    if (found === undefined) throw notFound('error group');
    return found;
  }

  async function add(
    tx: Sql,
    accountId: string,
    kind: ErrorGroupKind,
    occurrences: readonly ErrorOccurrences[],
  ): Promise<void> {
    const scopes = await addOccurrences(tx, { accountId, kind, occurrences });
    dropped += await removeBeyond(tx, { accountId, kind, scopes, maxGroups });
  }

  async function removeOld(signal: AbortSignal): Promise<void> {
    await removePastRetention(
      parts,
      ROWS_AT_ONCE,
      (old) => deleteErrorGroupsBefore(store, old),
      signal,
    );
  }

  function logDropped(): void {
    if (dropped === 0) return;
    log.warn(
      { dropped, maxGroups },
      'removed error groups because their check or project had too many',
    );
    dropped = 0;
  }

  return {
    async get(accountId, kind, id) {
      return whole(accountId, await findErrorGroup(store, { accountId, kind, id }));
    },

    async list(accountId, kind, { scope, isArchived, ...page }) {
      const asked = { accountId, kind, scope, isArchived, ...rangeOf(page) };
      return withAnalyses(accountId, await listErrorGroups(store, asked));
    },

    async occurrences(accountId, id) {
      const group = await findErrorGroup(store, { accountId, kind: 'check', id });
      if (group === null) throw notFound('error group');
      const asked = { accountId, group, maxFailures: MAX_FAILURES };
      const newest = await findFailedRuns(store, { ...asked, order: 'newest first' });
      const oldest = await findFailedRuns(store, { ...asked, order: 'oldest first' });
      const locations = new Set([...newest, ...oldest].map(({ location }) => location));
      return {
        checkId: group.scope,
        first: oldest[0] ?? null,
        last: newest[0] ?? null,
        locations: [...locations].sort((one, other) => (one < other ? -1 : 1)),
      };
    },

    async update(accountId, kind, id, changes, precondition) {
      // Read here, since the store cannot be used within the transaction. An analysis that is completed in between
      // does not matter for the precondition.
      const known = precondition && (await analysesOf(accountId, [id])).get(id);
      const updated = await store.transaction(async (tx) => {
        const key = { accountId, kind, id };
        const before = await lockErrorGroup(tx, key);
        if (before === null) throw notFound('error group');
        precondition?.({ ...before, analyses: known ?? [] });
        const archive = archiveAfter(before.archive, changes);
        if (archive === before.archive && archive !== 'until-next-event') return before;
        if (archive === 'for-ever') {
          const { scope } = before;
          const count = await countArchivedForEver(tx, { accountId, kind, scope });
          if (count >= maxGroups) throw tooManyForEver(maxGroups);
        }
        return archiveErrorGroup(tx, { ...key, archive, archivedAtMs: clock.wallMs() });
      });
      return whole(accountId, updated);
    },

    add,

    async follow(tx, { accountId, finals, atMs }) {
      await add(tx, accountId, 'check', occurrencesOf(finals, checkScopeOf(accountId), atMs));
    },

    async maintain(signal) {
      await everyHour(
        parts,
        'error groups past their retention could not be removed',
        async () => {
          try {
            await removeOld(signal);
          } finally {
            logDropped();
          }
        },
        signal,
      );
    },
  };
}

function tooManyForEver(limit: number): Error {
  return conflict(
    `${limit} other error groups are already archived for ever; unarchive some first`,
    { limit },
  );
}
