import { useRef, useState } from 'preact/hooks';
import { type ApiError, asApiError, type FieldProblem } from '../../api/errors.ts';

/** A resource as a form read it: saving requires that nobody has changed it since. */
export interface Loaded<Resource> {
  readonly resource: Resource;
  readonly etag: string | null;
}

export interface Saving {
  readonly isBusy: boolean;
  readonly error: ApiError | null;
  readonly problems: readonly FieldProblem[];
  /** Somebody else has changed the resource since it was loaded. */
  readonly isOutdated: boolean;
  /**
   * Sends the form. After an error the first invalid field gets the focus.
   *
   * @param send gets the Idempotency-Key: the same one again if no response to the last request came
   * @returns whether it succeeded
   */
  run(send: (idempotencyKey: string) => Promise<void>): Promise<boolean>;
  forget(): void;
}

/** The state of sending a form. */
export function useSaving(): Saving {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const key = useRef<string | null>(null);
  return {
    isBusy,
    error,
    problems: error?.problems ?? [],
    isOutdated: error?.status === 412,
    async run(send) {
      setBusy(true);
      setError(null);
      key.current ??= newKey();
      try {
        await send(key.current);
        key.current = null;
        return true;
      } catch (thrown) {
        const found = asApiError(thrown);
        if (found.kind === 'refused') key.current = null;
        setError(found);
        if (found.problems.length > 0) focusFirstProblem();
        return false;
      } finally {
        setBusy(false);
      }
    },
    forget: () => setError(null),
  };
}

/** Browsers have randomUUID only over HTTPS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function focusFirstProblem(): void {
  requestAnimationFrame(() => {
    const form = document.querySelector('dialog[open]') ?? document.querySelector('main');
    form?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  });
}
