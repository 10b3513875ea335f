import { useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { ensureDeleted } from '../../api/ensure-deleted.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { showToast } from '../../parts/toast.tsx';
import { zoneText } from './days.ts';
import { coverText, occurrencesIn, repetitionText, type Window } from './occurrences.ts';
import { forgetWindows } from './window-values.ts';

/** The effect of a window, and the windows at the same time. */
export function WindowDialog({
  window,
  fromMs,
  toMs,
  all,
  onEdit,
  onClose,
}: {
  readonly window: Window;
  readonly fromMs: number;
  readonly toMs: number;
  readonly all: readonly Window[];
  readonly onEdit: () => void;
  readonly onClose: () => void;
}) {
  const [isDeleting, setDeleting] = useState(false);
  const others = occurrencesIn(all, fromMs, toMs).filter((one) => one.window.id !== window.id);
  if (isDeleting) {
    return (
      <Confirm
        title={`Delete ${window.name}`}
        action="Delete the window"
        removesOpener
        onClose={onClose}
        run={async () => {
          const params = { path: { id: window.id } };
          await ensureDeleted(api.DELETE('/v1/maintenance-windows/{id}', { params }));
          forgetWindows();
          showToast({ kind: 'plain', text: `${window.name} is deleted.` });
        }}
      >
        <p>
          {window.repeatInterval === null ? 'The window' : 'All occurrences of the window'} are
          deleted, and checks that it pauses resume at their next slot. This cannot be undone.
        </p>
      </Confirm>
    );
  }
  return (
    <Dialog
      title={window.name}
      onClose={onClose}
      actions={
        may('write') ? (
          <>
            <Button kind="danger" onClick={() => setDeleting(true)}>
              Delete
            </Button>
            <Button onClick={onEdit}>Edit</Button>
          </>
        ) : undefined
      }
    >
      <dl class="maintenance-facts">
        <dt>From</dt>
        <dd>
          <TimeText at={fromMs} form="full" />
        </dd>
        <dt>To</dt>
        <dd>
          <TimeText at={toMs} form="full" />
        </dd>
        <dt>Time zone</dt>
        <dd>{zoneText()}</dd>
        <dt>Repeats</dt>
        <dd>{repetitionText(window)}</dd>
        <dt>Covers</dt>
        <dd>{coverText(window)}</dd>
        <dt>At the same time</dt>
        <dd>
          {others.length === 0 ? 'nothing else' : others.map((one) => one.window.name).join(', ')}
        </dd>
      </dl>
    </Dialog>
  );
}
