import { useEffect, useState } from 'preact/hooks';
import { api, bodyOf } from '../../api/client.ts';
import { asApiError } from '../../api/errors.ts';
import { useQuery } from '../../api/query.ts';
import { Button } from '../../parts/button.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { showToast } from '../../parts/toast.tsx';
import { Link } from '../../shell/link.tsx';
import { resultPath } from './model.ts';

/** Starts a run, and remembers it until it is closed. */
export function useRunNow(checkId: string): {
  readonly runId: string | null;
  readonly start: (location: string | null) => void;
  readonly close: () => void;
} {
  const [runId, setRunId] = useState<string | null>(null);
  const start = async (location: string | null): Promise<void> => {
    try {
      const { id } = await bodyOf(
        api.POST('/v1/checks/{id}/run', { params: { path: { id: checkId } }, body: { location } }),
      );
      setRunId(id);
    } catch (error) {
      showToast({ kind: 'fail', text: asApiError(error).message });
    }
  };
  return { runId, start: (location) => void start(location), close: () => setRunId(null) };
}

/** The step from waiting to an agent has no event. */
const POLL_MS = 1_000;

/** Follows a run on request until its result is there, or it is cancelled. */
export function FollowedRun({
  checkId,
  runId,
  close,
}: {
  readonly checkId: string;
  readonly runId: string;
  readonly close: () => void;
}) {
  const query = useQuery(
    `check run ${runId}`,
    (signal) => bodyOf(api.GET('/v1/check-runs/{id}', { params: { path: { id: runId } }, signal })),
    { on: ['check_run'], concerns: ({ resourceId }) => resourceId === runId },
  );
  const run = query.data.value;
  const isOpen = run?.state === 'waiting' || run?.state === 'assigned';
  const isOver = run !== null && !isOpen;
  const [isCancelling, setIsCancelling] = useState(false);
  const cancel = async (): Promise<void> => {
    setIsCancelling(true);
    try {
      await api.DELETE('/v1/check-runs/{id}', { params: { path: { id: runId } } });
    } catch (error) {
      showToast({ kind: 'fail', text: asApiError(error).message });
    }
    setIsCancelling(false);
    query.reload();
  };
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(query.reload, POLL_MS);
    return () => clearInterval(timer);
  }, [isOver]);
  return (
    <div class={`check-run ${run?.state ?? 'waiting'}`}>
      <span role="status">
        {run === null && 'The run is requested…'}
        {run?.state === 'waiting' && (
          <>
            Waiting for an agent at <b>{run.location}</b>, since{' '}
            <TimeText at={run.created_at} form="clock" />
          </>
        )}
        {run?.state === 'assigned' && (
          <>
            An agent at <b>{run.location}</b> makes the run…
          </>
        )}
        {run?.state === 'expired' && (
          <>
            No agent at <b>{run.location}</b> made the run in time. Is one connected?
          </>
        )}
        {run?.state === 'cancelled' && (
          <>
            The run at <b>{run.location}</b> was cancelled.
          </>
        )}
        {run?.state === 'done' && (
          <>
            The run at <b>{run.location}</b> has ended.
          </>
        )}
      </span>
      {(run?.state === 'done' || run?.state === 'cancelled') && run.resultId !== null && (
        <Link to={resultPath(checkId, run.resultId)}>See its result</Link>
      )}
      <span class="grow" />
      {isOpen && (
        <Button isBusy={isCancelling} onClick={() => void cancel()}>
          Cancel the run
        </Button>
      )}
      <Button kind="plain" onClick={close}>
        Close
      </Button>
    </div>
  );
}
