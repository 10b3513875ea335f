import { useState } from 'preact/hooks';
import { api, bodyOf } from '../../api/client.ts';
import { type ApiError, asApiError } from '../../api/errors.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { count, counted } from '../../parts/formats.ts';
import { showToast } from '../../parts/toast.tsx';
import { type CheckFilter, STATES } from './check-filter.ts';
import { MAX_SELECTED, type Selection } from './selection.ts';

type Action = 'run' | 'mute' | 'unmute' | 'pause' | 'resume';

const DONE: Readonly<Record<Action, string>> = {
  run: 'Started',
  mute: 'Muted',
  unmute: 'Unmuted',
  pause: 'Paused',
  resume: 'Resumed',
};
const UNDO: Readonly<Partial<Record<Action, Action>>> = {
  mute: 'unmute',
  unmute: 'mute',
  pause: 'resume',
  resume: 'pause',
};
/** Small enough that the progress changes about every second. */
const AT_ONCE = 50;

interface Failure {
  readonly id: string;
  readonly message: string;
}

interface Changed {
  readonly succeeded: readonly string[];
  readonly failures: readonly Failure[];
}

/** Each check has its own result: some may fail. */
async function changeByIds(
  action: Action,
  ids: readonly string[],
  onProgress: (done: number) => void,
): Promise<Changed> {
  const failures: Failure[] = [];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const chunk = ids.slice(from, from + AT_ONCE);
    onProgress(from);
    try {
      const { results } = await bodyOf(
        api.POST('/v1/checks/bulk', { body: { action, ids: chunk } }),
      );
      for (const { id, error } of results) {
        if (error !== undefined) failures.push({ id: id ?? '', message: error.message });
      }
    } catch (error) {
      const { message } = asApiError(error);
      failures.push(...chunk.map((id) => ({ id, message })));
    }
  }
  const isFailed = new Set(failures.map(({ id }) => id));
  return { succeeded: ids.filter((id) => !isFailed.has(id)), failures };
}

/**
 * Changes all checks that match, in one request.
 *
 * @param expected the number of matching checks that the user saw: if it differs, no check is changed
 */
async function changeByFilter(
  action: Action,
  given: CheckFilter,
  expected: number,
): Promise<Changed> {
  // The API does not accept an empty filter.
  const filter = Object.keys(given).length === 0 ? { state: STATES } : given;
  const body = { action, filter, expected };
  const { results } = await bodyOf(api.POST('/v1/checks/bulk', { body }));
  const succeeded: string[] = [];
  const failures: Failure[] = [];
  for (const { id, error } of results) {
    if (error === undefined) succeeded.push(id ?? '');
    else failures.push({ id: id ?? '', message: error.message });
  }
  return { succeeded, failures };
}

/** The actions on the selected checks, at the edge of the window. */
export function BulkBar({
  selection,
  filter,
  total,
  changed,
}: {
  readonly selection: Selection;
  readonly filter: CheckFilter;
  /** The number of checks that match the filter. */
  readonly total: number;
  /** Called after checks changed. */
  readonly changed: () => void;
}) {
  const { ids, isAll, clear, nameOf } = selection;
  /** `done` is null if it is not known. */
  const [running, setRunning] = useState<{ done: number | null; all: number } | null>(null);
  const [failed, setFailed] = useState<readonly Failure[] | null>(null);
  const [refused, setRefused] = useState<ApiError | null>(null);

  const changeIds = (action: Action, of: readonly string[]): Promise<Changed> =>
    changeByIds(action, of, (done) => setRunning({ done, all: of.length }));
  const changeAll = (action: Action): Promise<Changed> => {
    setRunning({ done: null, all: total });
    return changeByFilter(action, filter, total);
  };
  const run = async (
    action: Action,
    work: (action: Action) => Promise<Changed>,
    isUndo = false,
  ): Promise<void> => {
    setRefused(null);
    try {
      const { succeeded, failures } = await work(action);
      if (failures.length > 0) setFailed(failures);
      if (succeeded.length === 0) return;
      if (!isUndo && failures.length === 0) clear();
      const undo = UNDO[action];
      showToast({
        kind: 'pass',
        text: `${DONE[action]} ${counted(succeeded.length, 'check')}.`,
        ...(undo === undefined || isUndo
          ? {}
          : {
              action: {
                label: 'Undo',
                run: () => void run(undo, (back) => changeIds(back, succeeded), true),
              },
            }),
      });
    } catch (error) {
      setRefused(asApiError(error));
    } finally {
      setRunning(null);
      changed();
    }
  };
  const button = (action: Action, label: string) => (
    <Button
      disabled={running !== null}
      onClick={() => void run(action, (each) => (isAll ? changeAll(each) : changeIds(each, ids)))}
    >
      {label}
    </Button>
  );
  return (
    <>
      {(isAll || ids.length > 0) && (
        <section class="overview-bulk" aria-label="Selected checks">
          <b>{isAll ? `All ${count(total)} that match` : `${count(ids.length)} selected`}</b>
          {!isAll && total > ids.length && total <= MAX_SELECTED && (
            <Button kind="plain" disabled={running !== null} onClick={selection.selectAll}>
              Select all {count(total)} that match
            </Button>
          )}
          {total > MAX_SELECTED && (
            <span class="muted">
              {count(MAX_SELECTED)} at a time: filter the checks to select all
            </span>
          )}
          {may('run') && button('run', 'Run now')}
          {may('write') && (
            <>
              {button('mute', 'Mute')}
              {button('unmute', 'Unmute')}
              {button('pause', 'Pause')}
              {button('resume', 'Resume')}
            </>
          )}
          <Button kind="plain" disabled={running !== null} onClick={clear}>
            Clear
          </Button>
          {running !== null && (
            <label class="overview-progress">
              <progress max={running.all} value={running.done ?? undefined} />
              <span role="status">
                {running.done === null ? '' : `${count(running.done)} of `}
                {count(running.all)}
              </span>
            </label>
          )}
          {refused !== null && (
            <p class="fail" role="alert">
              {refused.message}
            </p>
          )}
        </section>
      )}
      {failed !== null && (
        <Dialog
          title={`${counted(failed.length, 'check')} could not be changed`}
          onClose={() => setFailed(null)}
          actions={<Button onClick={() => setFailed(null)}>Close</Button>}
        >
          <ul class="overview-failures">
            {failed.map(({ id, message }) => (
              <li key={id}>
                <b>{nameOf(id)}</b> <span class="muted">{message}</span>
              </li>
            ))}
          </ul>
        </Dialog>
      )}
    </>
  );
}
