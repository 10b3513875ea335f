import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type ApiError, asApiError } from '../../api/errors.ts';
import { Button } from '../button.tsx';
import { Dialog } from '../dialog.tsx';
import { FormError } from '../field.tsx';

/** Says what is lost before it is done. Stays open, with the reason, if it is refused. */
export function Confirm({
  title,
  children,
  action,
  run,
  onClose,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
  /** The label of the button that does it. */
  readonly action: string;
  readonly run: () => Promise<void>;
  readonly onClose: () => void;
}) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const confirm = async (): Promise<void> => {
    setBusy(true);
    try {
      await run();
      onClose();
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
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
