import { useEffect, useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { asApiError } from '../../api/errors.ts';
import { CheckField, FormError, problemOf, TextAreaField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { useSaving } from '../../parts/forms/use-saving.ts';
import { showToast } from '../../parts/toast.tsx';
import { reloadVariables, type Variable } from './queries.ts';

const FIELDS = ['key', 'value'];

interface Form {
  readonly key: string;
  readonly value: string;
  readonly secret: boolean;
  readonly locked: boolean;
}

/** A value that is hidden is replaced or kept, and never shown. */
const isHidden = (variable: Variable | null): boolean =>
  variable !== null && (variable.secret || variable.locked);

function formOf(variable: Variable | null, name: string): Form {
  if (variable === null) return { key: name, value: '', secret: false, locked: false };
  const { key, value, secret, locked } = variable;
  return { key, value: isHidden(variable) ? '' : (value ?? ''), secret, locked };
}

/** Makes a variable, or changes one. */
export function VariableDialog({
  variable,
  name,
  onClose,
}: {
  /** Null: a new one. */
  readonly variable: Variable | null;
  /** The name to begin with; empty if none is known. */
  readonly name: string;
  readonly onClose: () => void;
}) {
  const [base, setBase] = useState(variable);
  const [etag, setEtag] = useState<string | null>(null);
  const [form, setForm] = useState(formOf(variable, name));
  const saving = useSaving();
  const [isLost, setLost] = useState<string | null>(null);
  const change = (changes: Partial<Form>): void => setForm({ ...form, ...changes });
  const isChanged = JSON.stringify(form) !== JSON.stringify(formOf(base, name));

  const load = async (signal: AbortSignal | null): Promise<void> => {
    const given = { params: { path: { key: name } }, ...(signal === null ? {} : { signal }) };
    const { data, response } = await api.GET('/v1/variables/{key}', given);
    setBase(data ?? null);
    setForm(formOf(data ?? null, name));
    setEtag(response.headers.get('etag'));
    saving.forget();
    setLost(null);
  };
  // The list has no ETags.
  useEffect(() => {
    if (variable === null) return;
    const ended = new AbortController();
    load(ended.signal).catch(
      (thrown) => !ended.signal.aborted && setLost(asApiError(thrown).message),
    );
    return () => ended.abort();
  }, []);

  const send = async (idempotencyKey: string): Promise<void> => {
    if (variable === null) {
      const params = { header: { 'Idempotency-Key': idempotencyKey } };
      await api.POST('/v1/variables', { params, body: form });
      return;
    }
    const { value, secret, locked } = form;
    const isKept = isHidden(base) && value === '';
    const header = etag === null ? {} : { 'If-Match': etag };
    await api.PATCH('/v1/variables/{key}', {
      params: { path: { key: name }, header },
      body: { ...(isKept ? {} : { value }), secret, locked },
    });
  };
  const save = async (): Promise<void> => {
    if (!(await saving.run(send))) return;
    reloadVariables();
    onClose();
    showToast({ kind: 'pass', text: `The variable ${form.key} is saved. Agents have it soon.` });
  };
  const { problems, error } = saving;
  const isHiddenNow = isHidden(base);
  return (
    <FormDialog
      title={variable === null ? 'New variable' : name}
      submit={variable === null ? 'Make the variable' : 'Save'}
      isBusy={saving.isBusy}
      isChanged={isChanged}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      {variable === null && (
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
        hint="Stored encrypted, masked in results, and shown to nobody again."
      />
      <CheckField
        label="Locked"
        isChecked={form.locked}
        onValue={(locked) => change({ locked })}
        hint="Hidden here and from the roles read and run. Keys of the role write still read it."
      />
      {saving.isOutdated ? (
        <Outdated
          kind="variable"
          id={name}
          what="variable"
          onLoad={() => void load(null).catch((thrown) => setLost(asApiError(thrown).message))}
        />
      ) : (
        <FormError error={error} fields={FIELDS} />
      )}
      {isLost !== null && (
        <p class="form-error" role="alert">
          {isLost}
        </p>
      )}
    </FormDialog>
  );
}
