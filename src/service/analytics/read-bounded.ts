import type { Clock } from '../../runtime/clock.ts';
import type { Store } from '../database/port.ts';
import { StoreError } from '../database/store-errors.ts';
import { invalid, type ServiceError } from '../errors.ts';
import { ReportQueue } from './report-queue.ts';
import { hasMoreRuns, readSeries, type SeriesPoint, type SeriesQuery } from './sql.ts';

export interface BoundedReadParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Runs that one report may be of in the embedded database; left out, 300,000. */
  readonly maxRunsEmbedded?: number;
}

/** Some two seconds, in which nothing else goes on in the embedded database or the process. */
const MAX_RUNS_EMBEDDED = 300_000;
/** Of the ten connections that there are by default, most are for what cannot wait. */
const REPORTS_AT_ONCE = 2;

/**
 * `readSeries` as far as it leaves room for others: PostgreSQL breaks off what takes longer than any
 * statement may; the embedded database, which cannot, is asked first how many runs there are.
 *
 * @throws ServiceError 400 where there are too many runs, 503 where too many reports wait
 */
export function createBoundedRead({
  store,
  clock,
  maxRunsEmbedded = MAX_RUNS_EMBEDDED,
}: BoundedReadParts): (query: SeriesQuery) => Promise<readonly SeriesPoint[] | null> {
  const isEmbedded = store.kind === 'pglite';
  const atOnce = isEmbedded ? 1 : REPORTS_AT_ONCE;
  const queue = new ReportQueue({ clock, atOnce, rests: isEmbedded });

  async function read(query: SeriesQuery): Promise<readonly SeriesPoint[] | null> {
    if (isEmbedded && (await hasMoreRuns(store, query, maxRunsEmbedded))) {
      throw tooLong(`the window has more than ${maxRunsEmbedded} runs`);
    }
    try {
      return await readSeries(store, query);
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'STORE_STATEMENT_TIMEOUT') throw error;
      throw tooLong('the window has more runs than can be read in time');
    }
  }

  return (query) => queue.run(query.accountId, () => read(query));
}

function tooLong(why: string): ServiceError {
  return invalid([{ path: 'query.from', message: `must be later, or to earlier: ${why}` }]);
}
