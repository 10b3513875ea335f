import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiError } from '../../api/errors.ts';
import type { Query } from '../../api/query.ts';
import { backoffMs } from '../../api/wait.ts';
import { useAction } from '../use-action.ts';

/** A run on request that is followed until the user closes it. */
export interface Started<Target> {
  readonly runId: string | null;
  readonly start: (target: Target) => void;
  readonly close: () => void;
}

/** @param request requests a run */
export function useStarted<Target>(
  request: (target: Target) => Promise<{ readonly id: string }>,
): Started<Target> {
  const [runId, setRunId] = useState<string | null>(null);
  const start = useAction(async (target: Target) => setRunId((await request(target)).id));
  return { runId, start: start.run, close: () => setRunId(null) };
}

export interface Followed<Run> {
  /** Null before the first response. */
  readonly run: Run | null;
  /** The error of the last reading; null after a success. */
  readonly error: ApiError | null;
  /** Whether the run is known to continue. */
  readonly isOpen: boolean;
  readonly isCancelling: boolean;
  readonly cancel: () => void;
  readonly retry: () => void;
}

/** The interval of reads, because not every step of a run has an event. */
const POLL_MS = 1_000;
const MAX_POLL_MS = 30_000;

/** Follows a run until it ends. After errors, which are shown, it is read less often, or not at all if it is gone. */
export function useFollowed<Run>({
  query,
  isOver,
  cancel,
}: {
  readonly query: Query<Run>;
  readonly isOver: (run: Run) => boolean;
  readonly cancel: () => Promise<unknown>;
}): Followed<Run> {
  const run = query.data.value;
  const error = query.error.value;
  const isLoading = query.isLoading.value;
  const isOpen = run !== null && !isOver(run);
  // A refusal such as 404, or an ended session: further requests would not help.
  const isLost = error?.kind === 'refused' || error?.kind === 'unauthorized';
  const isFollowed = (run === null || isOpen) && !isLost;
  const failures = useRef<{ readonly last: ApiError | null; readonly count: number }>({
    last: null,
    count: 0,
  });
  useEffect(() => {
    const { last, count } = failures.current;
    if (error === null) failures.current = { last: null, count: 0 };
    else if (error !== last) failures.current = { last: error, count: count + 1 };
    if (!isFollowed || isLoading) return;
    const failed = failures.current.count;
    const ms = failed === 0 ? POLL_MS : backoffMs(failed, POLL_MS * 2, MAX_POLL_MS);
    const timer = setTimeout(query.reload, ms);
    return () => clearTimeout(timer);
  }, [run, error, isLoading, isFollowed]);
  const cancelling = useAction(async () => {
    try {
      await cancel();
    } finally {
      void query.reload();
    }
  });
  return {
    run,
    error,
    isOpen: isOpen && !isLost,
    isCancelling: cancelling.isBusy,
    cancel: cancelling.run,
    retry: () => void query.reload(),
  };
}
