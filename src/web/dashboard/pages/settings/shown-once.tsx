import { Button } from '../../parts/button.tsx';
import { Copyable } from '../../parts/copyable.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useShownOnce } from '../../parts/forms/use-unsaved-guard.ts';

interface ShownOnceProps {
  readonly title: string;
  /** Explains the use and the validity of the text. */
  readonly note: string;
  readonly text: string;
  readonly copyLabel: string;
  readonly done: string;
  readonly onClose: () => void;
}

/** A key or link that the service shows once, to be copied. */
export function ShownOnce({ title, note, text, copyLabel, done, onClose }: ShownOnceProps) {
  useShownOnce(true);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={onClose}>
          {done}
        </Button>
      }
    >
      <p>{note}</p>
      <p class="settings-secret">
        <Copyable text={text} label={copyLabel} isBlock />
      </p>
    </Dialog>
  );
}
