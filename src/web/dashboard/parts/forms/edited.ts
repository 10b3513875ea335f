/** A form of a resource: its edits, its initial state, and the changes of others on the server. */
export interface Edited<Form> {
  readonly form: Form;
  /** The form without the edits. */
  readonly base: Form;
  /** The ETag of `base`: saving requires that nobody has changed the resource since. Null if there is none. */
  readonly etag: string | null;
  /** The form as somebody else has saved it meanwhile; null if no field of this form was changed. */
  readonly theirs: Version<Form> | null;
}

export interface Version<Form> {
  readonly form: Form;
  readonly etag: string | null;
}

type Fields = Readonly<Record<string, unknown>>;

export function begun<Form extends object>({ form, etag }: Version<Form>): Edited<Form> {
  return { form, base: form, etag, theirs: null };
}

export function isEdited<Form extends object>({ form, base }: Edited<Form>): boolean {
  return !isSame(form, base);
}

/**
 * The resource was read again. Unedited fields take its values, and edited fields stay. Changes of fields that
 * this form does not have are not reported: another form of the same page may have saved them.
 *
 * @param isHeld whether the form counts as edited even if it is unchanged
 */
export function arrived<Form extends object>(
  edited: Edited<Form>,
  { form, etag }: Version<Form>,
  isHeld = false,
): Edited<Form> {
  if (isSame(form, edited.base)) return { ...edited, etag, theirs: null };
  if (!isEdited(edited) && !isHeld) return begun({ form, etag });
  if (isSame(form, edited.form)) return begun({ form: edited.form, etag });
  return { ...edited, theirs: { form, etag } };
}

/**
 * The form was saved. What was typed while it was on its way stays.
 *
 * @param sent the form as it was sent
 * @param saved the form as the server returned it
 */
export function saved<Form extends object>(
  edited: Edited<Form>,
  sent: Form,
  saved: Version<Form>,
): Edited<Form> {
  const { theirs } = edited;
  return {
    form: merged(sent, edited.form, saved.form),
    base: saved.form,
    etag: saved.etag,
    // It may have been read again before the response to the saving was handled.
    theirs: theirs === null || theirs.etag === saved.etag ? null : theirs,
  };
}

/** The version of somebody else, without the edits. */
export function withTheirs<Form extends object>(edited: Edited<Form>): Edited<Form> {
  return edited.theirs === null ? edited : begun(edited.theirs);
}

/** The version of somebody else, with the edits on top. */
export function withMine<Form extends object>(edited: Edited<Form>): Edited<Form> {
  const { form, base, theirs } = edited;
  if (theirs === null) return edited;
  return {
    form: merged(base, form, theirs.form),
    base: theirs.form,
    etag: theirs.etag,
    theirs: null,
  };
}

/** The fields that somebody else has changed, and whether they were edited here, too. */
export function changesOf<Form extends object>({
  form,
  base,
  theirs,
}: Edited<Form>): readonly { readonly name: string; readonly isMine: boolean }[] {
  if (theirs === null) return [];
  const [mine, before] = [form as Fields, base as Fields];
  return changedNames(base, theirs.form).map((name) => ({
    name,
    isMine: !isSame(mine[name], before[name]),
  }));
}

/** `onto` with the fields that were changed between `before` and `after`. */
function merged<Form extends object>(before: Form, after: Form, onto: Form): Form {
  const mine = changedNames(before, after);
  const kept = Object.entries(onto).filter(([name]) => !mine.includes(name));
  const changed = Object.entries(after).filter(([name]) => mine.includes(name));
  return Object.fromEntries([...kept, ...changed]) as Form;
}

function changedNames(before: object, after: object): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !isSame((before as Fields)[name], (after as Fields)[name]));
}

/** Whether two values of forms are equal. The order of fields does not matter, and undefined is no field. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (one instanceof Map && other instanceof Map) {
    return (
      one.size === other.size && [...one].every(([key, value]) => isSame(value, other.get(key)))
    );
  }
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  if (one === null || other === null || Array.isArray(one) !== Array.isArray(other)) return false;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  if (Array.isArray(one) && one.length !== (other as readonly unknown[]).length) return false;
  return [...names].every((name) => isSame((one as Fields)[name], (other as Fields)[name]));
}
