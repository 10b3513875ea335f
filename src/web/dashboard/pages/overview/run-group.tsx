import { api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { useQuery } from '../../api/query.ts';
import { FollowedBar } from '../../parts/followed/followed-bar.tsx';
import { type Started, useFollowed, useStarted } from '../../parts/followed/use-followed.ts';
import { counted } from '../../parts/formats.ts';
import { Link } from '../../shell/link.tsx';
import { resultPath } from '../check/model.ts';

type GroupRun = components['schemas']['CheckGroupRun'];

/** Starts a run of a group, by its id, and remembers it until it is closed. */
export function useGroupRun(): Started<string> {
  return useStarted((groupId: string) => {
    const params = { path: { id: Number(groupId) } };
    return bodyOf(api.POST('/v1/check-groups/{id}/run', { params, body: { location: null } }));
  });
}

/** Follows a run of a group until it has ended. */
export function FollowedGroupRun({
  runId,
  close,
}: {
  readonly runId: string;
  readonly close: () => void;
}) {
  const params = { path: { id: runId } };
  const query = useQuery(
    `group run ${runId}`,
    (signal) => bodyOf(api.GET('/v1/check-group-runs/{id}', { params, signal })),
    { on: ['group_run'], concerns: ({ resourceId }) => resourceId === runId },
  );
  const followed = useFollowed({
    query,
    isOver: ({ state }) => state === 'ended' || state === 'cancelled',
    cancel: () => api.DELETE('/v1/check-group-runs/{id}', { params }),
  });
  const { run } = followed;
  const failed = run?.checks.find(({ verdict }) => verdict === 'failed');
  return (
    <FollowedBar
      class="overview-group-run"
      followed={followed}
      text={run !== null && textOf(run)}
      link={
        failed !== undefined &&
        failed.resultId !== null && (
          <Link to={resultPath(failed.checkId, failed.resultId)}>
            See the failure of {failed.name}
          </Link>
        )
      }
      close={close}
    />
  );
}

const VERDICTS: Readonly<Record<NonNullable<GroupRun['verdict']>, string>> = {
  passed: 'all passed',
  degraded: 'all passed, some degraded',
  failed: 'some failed',
  incomplete: 'some were not made',
};

function textOf({ groupName, state, verdict, checks }: GroupRun): string {
  const made = checks.filter((check) => check.state !== 'skipped');
  const skipped = checks.length - made.length;
  const ended = made.filter((check) => ['done', 'expired', 'cancelled'].includes(check.state));
  const rest = skipped === 0 ? '' : `, ${skipped} skipped`;
  const runs = `${counted(made.length, 'run')}${rest}`;
  if (state === 'cancelled') return `${groupName}: cancelled.`;
  if (verdict !== null) return `${groupName}: ${VERDICTS[verdict]} (${runs}).`;
  if (state === 'waiting') return `${groupName}: waiting for an agent (${runs}).`;
  return `${groupName}: ${ended.length} of ${runs} ended…`;
}
