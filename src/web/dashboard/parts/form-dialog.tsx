import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { mayLeave, useUnsavedGuard } from './forms/use-unsaved-guard.ts';

interface FormDialogProps {
  readonly title: string;
  /** The text of the button that sends the form. */
  readonly submit: string;
  readonly isBusy: boolean;
  /** Whether to ask before closing. Default: false. */
  readonly isChanged?: boolean;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  /** The fields. The first one gets the focus. */
  readonly children: ComponentChildren;
}

/** A modal window with a form, which Enter and the button send. */
export function FormDialog(props: FormDialogProps) {
  const { title, submit, isBusy, isChanged = false, onSubmit, onClose, children } = props;
  const close = (): void => {
    if (mayLeave(isChanged)) onClose();
  };
  useUnsavedGuard(isChanged);
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>('input, textarea')?.focus(), []);
  return (
    <Dialog
      title={title}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" form={id} isBusy={isBusy}>
            {submit}
          </Button>
        </>
      }
    >
      <form
        id={id}
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        {children}
      </form>
    </Dialog>
  );
}
