import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { CrossIcon } from './icons.tsx';

interface DialogProps {
  readonly title: string;
  /** Called by Escape, the cross and a click beside it. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** The buttons, the one that does it last. */
  readonly actions?: ComponentChildren;
  /** True when it closes: the heading of the page gets the focus, because what opened the dialog disappears. */
  readonly isOpenerGone?: { readonly current: boolean };
}

/** A modal window while it is rendered. The browser keeps the focus inside; afterwards what opened it has it again. */
export function Dialog({ title, onClose, children, actions, isOpenerGone }: DialogProps) {
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  /** A click ends outside as well where a selection of text in a field is dragged out of it. */
  const beganOutside = useRef(false);
  useEffect(() => {
    const { current } = element;
    const before = document.activeElement;
    current?.showModal();
    return () => {
      current?.close();
      if (before instanceof HTMLElement && before.isConnected && isOpenerGone?.current !== true) {
        before.focus();
      } else {
        document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
      }
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it, too
    <dialog
      class="dialog"
      aria-labelledby={id}
      ref={element}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={() => {
        // Browsers close it at the second Escape, whatever the first one was answered.
        if (element.current?.isConnected !== true) return;
        element.current.showModal();
        onClose();
      }}
      onPointerDown={(event) => {
        beganOutside.current = event.target === element.current;
      }}
      onClick={(event) => event.target === element.current && beganOutside.current && onClose()}
    >
      <div class="dialog-box">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" class="button icon" aria-label="Close" onClick={onClose}>
            <CrossIcon />
          </button>
        </header>
        <div class="dialog-body">{children}</div>
        {actions !== undefined && <footer>{actions}</footer>}
      </div>
    </dialog>
  );
}
