import { useEffect, useRef, useState } from 'preact/hooks';
import { asApiError } from '../../api/errors.ts';
import {
  arrived,
  begun,
  changesOf,
  type Edited,
  isEdited,
  saved,
  type Version,
  withMine,
  withTheirs,
} from './edited.ts';
import { type Loaded, type Saving, useSaving } from './use-saving.ts';
import { useUnsavedGuard } from './use-unsaved-guard.ts';

export interface EditedForm<Resource, Form extends object> {
  readonly form: Form;
  /** The resource as the form began with it. */
  readonly base: Form;
  readonly isChanged: boolean;
  readonly saving: Saving;
  /** Somebody else has saved something else meanwhile. `Outdated` says so, and asks what to do. */
  readonly isOutdated: boolean;
  /** What they changed; empty while it is not read yet. */
  readonly changes: ReturnType<typeof changesOf>;
  change(fields: Partial<Form>): void;
  edit(next: (before: Form) => Form): void;
  /** Drops what was edited. */
  undo(): void;
  takeTheirs(): void;
  keepMine(): void;
  /**
   * Sends the form. If the resource has another ETag although nothing of this form was changed, it is sent once more.
   *
   * @param send gets the form, the ETag for If-Match and the Idempotency-Key; returns the resource as the server has it now
   * @returns whether it succeeded
   */
  save(
    send: (form: Form, etag: string | null, idempotencyKey: string) => Promise<Loaded<Resource>>,
  ): Promise<boolean>;
}

/**
 * The state of a form. What is edited stays when the resource is read again, and the form asks before it is left.
 *
 * @param loaded the resource as it was last read; null for a new one
 * @param formOf the form of the resource
 * @param initial the form of a new one
 * @param isHeld something is being typed that the form cannot have yet: it does not follow the resource
 * @param reload reads the resource again
 */
export function useEdited<Resource, Form extends object>({
  loaded,
  formOf,
  initial,
  isHeld = false,
  reload,
}: {
  readonly formOf: (resource: Resource) => Form;
  readonly isHeld?: boolean;
  readonly reload?: () => void;
} & (
  | { readonly loaded: Loaded<Resource>; readonly initial?: Form }
  | { readonly loaded: Loaded<Resource> | null; readonly initial: Form }
)): EditedForm<Resource, Form> {
  const versionOf = ({ resource, etag }: Loaded<Resource>): Version<Form> => ({
    form: formOf(resource),
    etag,
  });
  const [state, show] = useState<Edited<Form>>(() =>
    begun(loaded === null ? { form: initial as Form, etag: null } : versionOf(loaded)),
  );
  /** The state itself: several changes may come before the next rendering. */
  const current = useRef(state);
  const afterReading = useRef<(() => void) | null>(null);
  const saving = useSaving();
  const put = (next: Edited<Form>): void => {
    current.current = next;
    show(next);
  };
  useEffect(() => {
    if (loaded === null) return;
    put(arrived(current.current, versionOf(loaded), isHeld));
    const then = afterReading.current;
    afterReading.current = null;
    then?.();
  }, [loaded]);
  const isChanged = isEdited(state);
  useUnsavedGuard(isChanged);

  const edit = (next: (before: Form) => Form): void => {
    afterReading.current = null;
    put({ ...current.current, form: next(current.current.form) });
  };
  const settle = (next: Edited<Form>): void => {
    saving.forget();
    put(next);
  };
  const save: EditedForm<Resource, Form>['save'] = async (send) => {
    afterReading.current = null;
    const { form, etag } = current.current;
    let isOld = false;
    const isSaved = await saving.run(async (key) => {
      try {
        const answer = await send(form, etag, key);
        put(saved(current.current, form, versionOf(answer)));
      } catch (error) {
        isOld = asApiError(error).status === 412;
        throw error;
      }
    });
    if (!isOld || reload === undefined) return isSaved;
    await new Promise<void>((resolve) => {
      afterReading.current = resolve;
      reload();
    });
    const now = current.current;
    return now.theirs === null && now.etag !== etag ? await save(send) : false;
  };
  return {
    form: state.form,
    base: state.base,
    isChanged,
    saving,
    isOutdated: state.theirs !== null || (loaded !== null && saving.isOutdated),
    changes: changesOf(state),
    change: (fields) => edit((before) => ({ ...before, ...fields })),
    edit,
    undo() {
      const { base, etag } = current.current;
      // A new object: what is derived from the form is made anew.
      settle(begun({ form: { ...base }, etag }));
    },
    takeTheirs() {
      if (current.current.theirs === null) reload?.();
      settle(withTheirs(current.current));
    },
    keepMine: () => settle(withMine(current.current)),
    save,
  };
}
