import { api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { useQuery } from '../../api/query.ts';
import { FollowedBar } from '../../parts/followed/followed-bar.tsx';
import { type Started, useFollowed, useStarted } from '../../parts/followed/use-followed.ts';
import { TimeText } from '../../parts/time-text.tsx';
import { Link } from '../../shell/link.tsx';
import { resultPath } from './model.ts';

type CheckRun = components['schemas']['CheckRun'];

/** Starts a run at a location, null for any, and remembers it until it is closed. */
export function useRunNow(checkId: string): Started<string | null> {
  return useStarted((location: string | null) =>
    bodyOf(
      api.POST('/v1/checks/{id}/run', { params: { path: { id: checkId } }, body: { location } }),
    ),
  );
}

/** Follows a run on request until it has a result or is cancelled. */
export function FollowedRun({
  checkId,
  runId,
  close,
}: {
  readonly checkId: string;
  readonly runId: string;
  readonly close: () => void;
}) {
  const params = { path: { id: runId } };
  const query = useQuery(
    `check run ${runId}`,
    (signal) => bodyOf(api.GET('/v1/check-runs/{id}', { params, signal })),
    { on: ['check_run'], concerns: ({ resourceId }) => resourceId === runId },
  );
  const followed = useFollowed({
    query,
    isOver: ({ state }) => state !== 'waiting' && state !== 'assigned',
    cancel: () => api.DELETE('/v1/check-runs/{id}', { params }),
  });
  const { run } = followed;
  const hasResult = run?.state === 'done' || run?.state === 'cancelled';
  return (
    <FollowedBar
      class="check-run"
      followed={followed}
      text={run !== null && <RunText run={run} />}
      link={
        hasResult &&
        run.resultId !== null && <Link to={resultPath(checkId, run.resultId)}>See its result</Link>
      }
      close={close}
    />
  );
}

function RunText({ run: { state, location, created_at } }: { readonly run: CheckRun }) {
  const name = <b>{location}</b>;
  switch (state) {
    case 'waiting':
      return (
        <>
          Waiting for an agent at {name}, since <TimeText at={created_at} form="clock" />
        </>
      );
    case 'assigned':
      return <>An agent at {name} makes the run…</>;
    case 'expired':
      return <>No agent at {name} made the run in time. Is one connected?</>;
    case 'cancelled':
      return <>The run at {name} was cancelled.</>;
    case 'done':
      return <>The run at {name} has ended.</>;
  }
}
