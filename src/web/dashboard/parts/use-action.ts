import { useState } from 'preact/hooks';
import { asApiError } from '../api/errors.ts';
import { showToast } from './toast.tsx';

/** An action of a button, such as to send a message again. */
export interface Action<Args extends readonly unknown[]> {
  /** Whether it runs: for `isBusy` of its button. */
  readonly isBusy: boolean;
  /** Runs it. An error is shown as a toast. */
  readonly run: (...args: Args) => void;
}

/** For actions outside of dialogs and forms, which show errors themselves. */
export function useAction<Args extends readonly unknown[]>(
  action: (...args: Args) => Promise<unknown>,
): Action<Args> {
  const [isBusy, setBusy] = useState(false);
  const run = async (...args: Args): Promise<void> => {
    setBusy(true);
    await runOrToast(() => action(...args));
    setBusy(false);
  };
  return { isBusy, run: (...args) => void run(...args) };
}

/** For actions that no component waits for, such as `Undo` in a toast. */
export async function runOrToast(action: () => Promise<unknown>): Promise<void> {
  try {
    await action();
  } catch (error) {
    showToast({ kind: 'fail', text: asApiError(error).message });
  }
}
