import { useEffect, useState } from 'preact/hooks';
import { api, bodyOf } from '../../api/client.ts';
import { asApiError } from '../../api/errors.ts';
import type { components } from '../../api/openapi.d.ts';
import { useQuery } from '../../api/query.ts';
import { Button } from '../../parts/button.tsx';
import { counted } from '../../parts/formats.ts';
import { showToast } from '../../parts/toast.tsx';
import { Link } from '../../shell/link.tsx';
import { resultPath } from '../check/model.ts';

type GroupRun = components['schemas']['CheckGroupRun'];

const toastError = (error: unknown): void =>
  showToast({ kind: 'fail', text: asApiError(error).message });

/** Starts a run of a group, and remembers it until it is closed. */
export function useGroupRun(): {
  readonly runId: string | null;
  readonly start: (groupId: string) => void;
  readonly close: () => void;
} {
  const [runId, setRunId] = useState<string | null>(null);
  const start = async (groupId: string): Promise<void> => {
    try {
      const params = { path: { id: Number(groupId) } };
      const { id } = await bodyOf(
        api.POST('/v1/check-groups/{id}/run', { params, body: { location: null } }),
      );
      setRunId(id);
    } catch (error) {
      toastError(error);
    }
  };
  return { runId, start: (groupId) => void start(groupId), close: () => setRunId(null) };
}

/** Its steps have no events; only its end has. */
const POLL_MS = 1_000;

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
  const run = query.data.value;
  const isOver = run?.state === 'ended' || run?.state === 'cancelled';
  useEffect(() => {
    if (isOver) return;
    const timer = setInterval(query.reload, POLL_MS);
    return () => clearInterval(timer);
  }, [isOver]);
  const cancel = async (): Promise<void> => {
    try {
      await api.DELETE('/v1/check-group-runs/{id}', { params });
      query.reload();
    } catch (error) {
      toastError(error);
    }
  };
  const failed = run?.checks.find(({ verdict }) => verdict === 'failed');
  return (
    <div class="overview-group-run">
      <span role="status">{run === null ? 'The run is requested…' : textOf(run)}</span>
      {failed !== undefined && failed.resultId !== null && (
        <Link to={resultPath(failed.checkId, failed.resultId)}>
          See the failure of {failed.name}
        </Link>
      )}
      <span class="grow" />
      {!isOver && (
        <Button kind="plain" onClick={() => void cancel()}>
          Cancel the run
        </Button>
      )}
      <Button kind="plain" onClick={close}>
        Close
      </Button>
    </div>
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
