import { useState } from 'preact/hooks';
import { api, bodyOf } from '../../api/client.ts';
import { asApiError } from '../../api/errors.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { count, counted } from '../../parts/formats.ts';
import { showToast } from '../../parts/toast.tsx';

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
/** Small enough that the progress moves on every second or so. */
const AT_ONCE = 50;

interface Failure {
  readonly id: string;
  readonly message: string;
}

/** Each check has a result of its own: some may fail. */
async function change(
  action: Action,
  ids: readonly string[],
  onProgress: (done: number) => void,
): Promise<readonly Failure[]> {
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
  return failures;
}

/** What can be done with the selected checks, at the edge of the window while there are some. */
export function BulkBar({
  ids,
  nameOf,
  clear,
  changed,
}: {
  readonly ids: readonly string[];
  readonly nameOf: (id: string) => string;
  readonly clear: () => void;
  /** Called after checks changed. */
  readonly changed: () => void;
}) {
  const [running, setRunning] = useState<{ action: Action; done: number; all: number } | null>(
    null,
  );
  const [failed, setFailed] = useState<{ action: Action; failures: readonly Failure[] } | null>(
    null,
  );

  const run = async (action: Action, of: readonly string[], isUndo = false): Promise<void> => {
    const onProgress = (done: number): void => setRunning({ action, done, all: of.length });
    const failures = await change(action, of, onProgress);
    setRunning(null);
    changed();
    const isFailed = new Set(failures.map(({ id }) => id));
    const succeeded = of.filter((id) => !isFailed.has(id));
    if (failures.length > 0) setFailed({ action, failures });
    if (succeeded.length === 0) return;
    if (!isUndo && failures.length === 0) clear();
    const undo = UNDO[action];
    showToast({
      kind: 'pass',
      text: `${DONE[action]} ${counted(succeeded.length, 'check')}.`,
      ...(undo === undefined || isUndo
        ? {}
        : { action: { label: 'Undo', run: () => void run(undo, succeeded, true) } }),
    });
  };
  const button = (action: Action, label: string) => (
    <Button disabled={running !== null} onClick={() => void run(action, ids)}>
      {label}
    </Button>
  );
  return (
    <>
      {ids.length > 0 && (
        <section class="overview-bulk" aria-label="Selected checks">
          <b>{count(ids.length)} selected</b>
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
              <progress max={running.all} value={running.done} />
              <span role="status">
                {count(running.done)} of {count(running.all)}
              </span>
            </label>
          )}
        </section>
      )}
      {failed !== null && (
        <Dialog
          title={`${counted(failed.failures.length, 'check')} could not be changed`}
          onClose={() => setFailed(null)}
          actions={<Button onClick={() => setFailed(null)}>Close</Button>}
        >
          <ul class="overview-failures">
            {failed.failures.map(({ id, message }) => (
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
