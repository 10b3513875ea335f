import { api } from '../../api/client.ts';
import type { Query } from '../../api/query.ts';
import { CheckField, FormError, problemOf, TextAreaField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { LoadedDialog, useLoaded } from '../../parts/forms/loaded-dialog.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { useEdited } from '../../parts/forms/use-edited.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { showToast } from '../../parts/toast.tsx';
import { reloadVariables, type Variable } from './queries.ts';

const FIELDS = ['key', 'value'];

interface Form {
  readonly key: string;
  readonly value: string;
  readonly secret: boolean;
  readonly locked: boolean;
  /** The time at which a hidden value was stored: only this shows a change of the value. */
  readonly storedAt: string | null;
}

const LABELS: Readonly<Record<string, string>> = { storedAt: 'value' };

/** A value that is hidden is replaced or kept, and never shown. */
const isHidden = (variable: Variable | null): boolean =>
  variable !== null && (variable.secret || variable.locked);

function formOf(variable: Variable): Form {
  const { key, value, secret, locked } = variable;
  const storedAt = isHidden(variable) ? (variable.updated_at ?? variable.created_at) : null;
  return { key, value: isHidden(variable) ? '' : (value ?? ''), secret, locked, storedAt };
}

/** Creates or changes a variable. */
export function VariableDialog({
  name,
  isNew,
  onClose,
}: {
  /** The initial name in the form of a new variable; empty if none is known. */
  readonly name: string;
  readonly isNew: boolean;
  readonly onClose: () => void;
}) {
  if (isNew) return <Editor name={name} query={null} loaded={null} onClose={onClose} />;
  return <ChangeDialog name={name} onClose={onClose} />;
}

function ChangeDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const params = { path: { key: name } };
  const query = useLoaded<Variable>(`variable ${name}`, (signal) =>
    api.GET('/v1/variables/{key}', { params, signal }),
  );
  return (
    <LoadedDialog title={name} what="variable" query={query} onClose={onClose}>
      {(loaded) => <Editor name={name} query={query} loaded={loaded} onClose={onClose} />}
    </LoadedDialog>
  );
}

function Editor({
  name,
  query,
  loaded,
  onClose,
}: {
  readonly name: string;
  /** Null: a new one. */
  readonly query: Query<Loaded<Variable>> | null;
  readonly loaded: Loaded<Variable> | null;
  readonly onClose: () => void;
}) {
  const stored = loaded?.resource ?? null;
  const isNew = stored === null;
  const edited = useEdited({
    loaded,
    formOf,
    initial: { key: name, value: '', secret: false, locked: false, storedAt: null },
    ...(query === null ? {} : { reload: query.reload }),
  });
  const { form, saving, change } = edited;
  const save = async (): Promise<void> => {
    const isSaved = await edited.save(async (sent, etag, idempotencyKey) => {
      if (isNew) {
        const params = { header: { 'Idempotency-Key': idempotencyKey } };
        const { storedAt: _, ...body } = sent;
        const { data } = await api.POST('/v1/variables', { params, body });
        return { resource: data as Variable, etag: null };
      }
      const { value, secret, locked } = sent;
      const isKept = isHidden(stored) && value === '';
      const header = etag === null ? {} : { 'If-Match': etag };
      const { data, response } = await api.PATCH('/v1/variables/{key}', {
        params: { path: { key: name }, header },
        body: { ...(isKept ? {} : { value }), secret, locked },
      });
      return { resource: data as Variable, etag: response.headers.get('etag') };
    });
    if (!isSaved) return;
    reloadVariables();
    onClose();
    showToast({ kind: 'pass', text: `The variable ${form.key} is saved. Agents have it soon.` });
  };
  const { problems, error } = saving;
  const isHiddenNow = isHidden(stored);
  return (
    <FormDialog
      title={isNew ? 'New variable' : name}
      submit={isNew ? 'Create the variable' : 'Save'}
      isBusy={saving.isBusy}
      isChanged={edited.isChanged}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      {isNew && (
        <TextField
          label="Name"
          value={form.key}
          onValue={(key) => change({ key })}
          problem={problemOf(problems, 'key')}
          hint="Letters, digits and underscores, for example API_TOKEN. It never changes."
          maxLength={255}
          autocomplete="off"
          required
        />
      )}
      <TextAreaField
        label={isHiddenNow ? 'New value' : 'Value'}
        rows={3}
        value={form.value}
        onValue={(value) => change({ value })}
        problem={problemOf(problems, 'value')}
        hint={
          isHiddenNow
            ? 'The stored value is not shown. Leave this empty to keep it.'
            : 'At most 20,000 characters.'
        }
      />
      <CheckField
        label="Secret"
        isChecked={form.secret}
        onValue={(secret) => change({ secret })}
        hint="Stored encrypted, masked in results, and never shown again."
      />
      <CheckField
        label="Locked"
        isChecked={form.locked}
        onValue={(locked) => change({ locked })}
        hint="Hidden here and from the roles read and run. Keys of the role write still read it."
      />
      {edited.isOutdated ? (
        <Outdated
          kind="variable"
          id={name}
          what="variable"
          edited={edited}
          labelOf={(name) => LABELS[name] ?? name}
        />
      ) : (
        <FormError error={error} fields={FIELDS} />
      )}
      <FormError error={query?.error.value ?? null} fields={[]} />
    </FormDialog>
  );
}
