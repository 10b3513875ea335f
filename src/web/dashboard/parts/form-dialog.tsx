import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

interface FormDialogProps {
  readonly title: string;
  /** The text of the button that sends the form. */
  readonly submit: string;
  readonly isBusy: boolean;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  /** The fields. The first one gets the focus. */
  readonly children: ComponentChildren;
}

/** A modal window with a form, which Enter and the button send. */
export function FormDialog(props: FormDialogProps) {
  const { title, submit, isBusy, onSubmit, onClose, children } = props;
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector('input')?.focus(), []);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
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
