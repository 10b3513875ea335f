import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { type ApiError, asApiError } from '../../api/errors.ts';
import { Button } from '../button.tsx';
import { Dialog } from '../dialog.tsx';
import { FormError } from '../field.tsx';

/** Asks before an action that deletes something. Stays open and shows the error if the action fails. */
export function Confirm({
  title,
  children,
  action,
  run,
  removesOpener = false,
  onClose,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
  /** The label of the button that confirms. */
  readonly action: string;
  readonly run: () => Promise<void>;
  /** The button that opened it disappears after `run`, as in the row of what is deleted. Default: false. */
  readonly removesOpener?: boolean;
  readonly onClose: () => void;
}) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const isOpenerGone = useRef(false);
  const confirm = async (): Promise<void> => {
    setBusy(true);
    try {
      isOpenerGone.current = removesOpener;
      await run();
      onClose();
    } catch (thrown) {
      isOpenerGone.current = false;
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      isOpenerGone={isOpenerGone}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" isBusy={isBusy} onClick={() => void confirm()}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      <FormError error={error} fields={[]} />
    </Dialog>
  );
}
