import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { CrossIcon } from './icons.tsx';

interface DialogProps {
  readonly title: string;
  /** Called for Escape, the cross and a click outside. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** The buttons. The one that confirms is the last. */
  readonly actions?: ComponentChildren;
  /** Whether the element that opened the dialog disappears when it closes: then the page heading gets the focus. */
  readonly isOpenerGone?: { readonly current: boolean };
}

/** A modal dialog. The browser keeps the focus inside; afterwards the element that opened it gets the focus. */
export function Dialog({ title, onClose, children, actions, isOpenerGone }: DialogProps) {
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  /** A click also ends outside if a text selection is dragged out of the dialog, so its start counts, too. */
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
        // Browsers close the dialog at the second Escape even if the first one was prevented.
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
