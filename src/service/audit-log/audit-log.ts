import { DAY_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { everyHour } from '../database/every-hour.ts';
import { withRecorder } from '../database/recorded-store.ts';
import { removeInBatches } from '../database/retention.ts';
import type { Store } from '../database/store.ts';
import { unstorableTexts } from '../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../http/resources/paging.ts';
import { FailedSignIns } from './failed-sign-ins.ts';
import { type RecordedRequest, RequestRecorder } from './request-recorder.ts';
import { type AuditEntry, type AuditFilter, deleteEntriesBefore, listEntries } from './sql.ts';

export type { AuditEntry, AuditFilter } from './sql.ts';

export interface AuditLogParts {
  /** The store that `recordedStore` returned. */
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly retentionDays: number;
}

/** Who changed what in an account: README.md of this folder. */
export interface AuditLog {
  /** Runs the handler of a request, and records what it writes to the store. */
  recording<T>(request: RecordedRequest, work: () => Promise<T>): Promise<T>;
  /** Newest first. */
  list(accountId: string, query: Page & AuditFilter): Promise<readonly AuditEntry[]>;
  readonly failedSignIns: Pick<FailedSignIns, 'add' | 'flush' | 'counts'>;
  /** Stores failed sign-ins and deletes old entries until the signal aborts. */
  maintain(signal: AbortSignal): Promise<void>;
}

const ROWS_AT_ONCE = 1_000;

export function createAuditLog({ store, clock, log, retentionDays }: AuditLogParts): AuditLog {
  const failedSignIns = new FailedSignIns({ store, clock, log });
  return {
    failedSignIns,

    async recording(request, work) {
      const recorder = new RequestRecorder(request, clock);
      try {
        return await withRecorder(recorder, work);
      } finally {
        recorder.end();
      }
    },

    async list(accountId, query) {
      const { actor, kind, resourceId, action, fromMs, toMs } = query;
      // No entry has such a text, and PostgreSQL would refuse it.
      if (unstorableTexts([actor, resourceId]).length > 0) return [];
      const filter = { actor, kind, resourceId, action, fromMs, toMs };
      return await listEntries(store, { accountId, ...filter, ...rangeOf(query) });
    },

    async maintain(signal) {
      const removeOld = () => {
        const beforeMs = clock.wallMs() - retentionDays * DAY_MS;
        const remove = (limit: number) => deleteEntriesBefore(store, { beforeMs, limit });
        return removeInBatches(ROWS_AT_ONCE, remove, signal);
      };
      const failure = 'old entries of the audit log were not deleted';
      await Promise.all([
        failedSignIns.maintain(signal),
        everyHour({ clock, log }, failure, removeOld, signal),
      ]);
    },
  };
}
