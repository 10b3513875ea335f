import { signal } from '@preact/signals';
import { CrossIcon } from './icons.tsx';

export interface Toast {
  readonly kind: 'pass' | 'fail' | 'plain';
  readonly text: string;
  /** For example to undo the change. */
  readonly action?: { readonly label: string; readonly run: () => void };
}

const SHOWN_MS = 8_000;
const MAX_SHOWN = 4;

const shown = signal<readonly (Toast & { readonly id: number })[]>([]);
let nextId = 1;

/** Shows a short message at the edge of the window. Failures stay until they are closed. */
export function showToast(toast: Toast): void {
  const id = nextId++;
  shown.value = [...shown.value, { ...toast, id }].slice(-MAX_SHOWN);
  if (toast.kind !== 'fail') setTimeout(() => close(id), SHOWN_MS);
}

function close(id: number): void {
  shown.value = shown.value.filter((toast) => toast.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map(({ id, kind, text, action }) => (
        <div class={`toast ${kind}`} key={id}>
          <span>{text}</span>
          {action !== undefined && (
            <button
              type="button"
              class="button"
              onClick={() => {
                close(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" class="button icon" aria-label="Close" onClick={() => close(id)}>
            <CrossIcon />
          </button>
        </div>
      ))}
    </div>
  );
}
