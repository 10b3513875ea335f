import { useEffect, useRef, useState } from 'preact/hooks';
import { asApiError } from '../../api/errors.ts';
import type { Query } from '../../api/query.ts';
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
  /** The form without the edits: the resource as it was when the editing began. */
  readonly base: Form;
  readonly isChanged: boolean;
  readonly saving: Saving;
  /** Somebody else has changed the resource meanwhile. `Outdated` says so and asks what to do. */
  readonly isOutdated: boolean;
  /** The changes of somebody else could not be read: `takeTheirs` tries again. */
  readonly isUnread: boolean;
  /** The changes of somebody else; empty until they are read. */
  readonly changes: ReturnType<typeof changesOf>;
  change(fields: Partial<Form>): void;
  edit(next: (before: Form) => Form): void;
  /** Discards the edits. */
  undo(): void;
  /** Discards the edits when the changes of somebody else are read. */
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
 * The state of a form. Edits stay when the resource is read again, and the form asks before it is left.
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
  readonly reload?: Query<unknown>['reload'];
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
  /** Resolves the wait for the resource with whether it was read. */
  const afterReading = useRef<((isRead: boolean) => void) | null>(null);
  const [isUnread, setUnread] = useState(false);
  const saving = useSaving();
  const put = (next: Edited<Form>): void => {
    current.current = next;
    show(next);
  };
  const endReading = (isRead: boolean): void => {
    const then = afterReading.current;
    afterReading.current = null;
    then?.(isRead);
  };
  /** @returns whether the form took the resource: not after an error, nor if something was typed meanwhile */
  const read = async (): Promise<boolean> => {
    if (reload === undefined) return false;
    endReading(false);
    setUnread(false);
    return new Promise((resolve) => {
      afterReading.current = resolve;
      void reload().then((isRead) => {
        // After a success the form takes it with the next rendering.
        if (isRead || afterReading.current !== resolve) return;
        setUnread(true);
        endReading(false);
      });
    });
  };
  useEffect(() => {
    if (loaded === null) return;
    put(arrived(current.current, versionOf(loaded), isHeld));
    setUnread(false);
    endReading(true);
  }, [loaded]);
  useEffect(() => () => endReading(false), []);
  const isChanged = isEdited(state);
  useUnsavedGuard(isChanged);

  const edit = (next: (before: Form) => Form): void => {
    endReading(false);
    put({ ...current.current, form: next(current.current.form) });
  };
  const settle = (next: Edited<Form>): void => {
    saving.forget();
    put(next);
  };
  const save: EditedForm<Resource, Form>['save'] = async (send) => {
    endReading(false);
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
    if (!isOld) return isSaved;
    const isRead = await read();
    const now = current.current;
    return isRead && now.theirs === null && now.etag !== etag ? await save(send) : false;
  };
  const undo = (): void => {
    const { base, etag } = current.current;
    // A new object, so that values derived from the form are computed again.
    settle(begun({ form: { ...base }, etag }));
  };
  const takeTheirs = async (): Promise<void> => {
    if (current.current.theirs === null && !(await read())) return;
    if (current.current.theirs === null) undo();
    else settle(withTheirs(current.current));
  };
  return {
    form: state.form,
    base: state.base,
    isChanged,
    saving,
    isOutdated: state.theirs !== null || (loaded !== null && saving.isOutdated),
    isUnread,
    changes: changesOf(state),
    change: (fields) => edit((before) => ({ ...before, ...fields })),
    edit,
    undo,
    takeTheirs: () => void takeTheirs(),
    keepMine: () => settle(withMine(current.current)),
    save,
  };
}
