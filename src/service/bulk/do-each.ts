import type { Clock } from '../../runtime/clock.ts';
import { createYielder } from '../../runtime/event-loop.ts';
import { errorBody, type ServiceError, unavailable } from '../errors.ts';
import type { BulkResult } from './body.ts';

/** The response that a request for one item alone would return. */
export interface Done {
  /** 200, 201 or 204. */
  readonly status: number;
  /** null if a dry run created nothing. */
  readonly id: string | null;
  readonly location?: string;
}

export interface EachParts<Item> {
  readonly clock: Clock;
  readonly items: readonly Item[];
  /** null for an item that is to be created. */
  readonly idOf: (item: Item) => string | null;
  readonly work: (item: Item) => Promise<Done>;
  readonly errorOf: (thrown: unknown) => ServiceError;
  /** Nothing is begun after it aborts. */
  readonly signal: AbortSignal;
}

/** Load balancers wait 30 s or longer for a response. */
export const MAX_WORK_MS = 25_000;
const RETRY_SECONDS = 5;

/**
 * Does the work for each item, one after the other, and continues after a failure. After 503, after
 * MAX_WORK_MS or when the signal aborts, it begins nothing more: the other items get 503.
 *
 * @throws ServiceError 503 where nothing was written before that
 */
export async function doEach<Item>({
  clock,
  items,
  idOf,
  work,
  errorOf,
  signal,
}: EachParts<Item>): Promise<readonly BulkResult[]> {
  const endMs = clock.monotonicMs() + MAX_WORK_MS;
  const yieldWhenDue = createYielder(clock);
  const results: BulkResult[] = [];
  let hasWritten = false;
  let stop: ServiceError | null = null;

  const reasonToStop = (): ServiceError | null => {
    if (signal.aborted) return notBegun('the client disconnected, or the service stops');
    if (clock.monotonicMs() < endMs) return null;
    return notBegun(`a request may take ${MAX_WORK_MS / 1000} s`);
  };

  for (const [index, item] of items.entries()) {
    stop ??= reasonToStop();
    if (stop !== null) {
      if (!hasWritten) throw stop;
      results.push({ index, id: idOf(item), ...failed(stop) });
      continue;
    }
    try {
      const { status, id, location } = await work(item);
      hasWritten = true;
      results.push({ index, id, status, ...(location === undefined ? {} : { location }) });
    } catch (thrown) {
      const error = errorOf(thrown);
      if (error.status === 503) {
        if (!hasWritten) throw error;
        stop = notBegun('the database does not answer', error);
      }
      results.push({ index, id: idOf(item), ...failed(error) });
    }
    await yieldWhenDue();
  }
  return results;
}

function notBegun(reason: string, cause?: unknown): ServiceError {
  const message = `Not begun: ${reason}; send the rest in another request`;
  return unavailable(message, RETRY_SECONDS, cause);
}

function failed({ status, message, attributes }: ServiceError) {
  return { status, error: errorBody(status, message, attributes) };
}
