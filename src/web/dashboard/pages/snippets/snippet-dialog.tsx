import { api } from '../../api/client.ts';
import type { Query } from '../../api/query.ts';
import { FormError, problemOf, TextAreaField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { LoadedDialog, useLoaded } from '../../parts/forms/loaded-dialog.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { useEdited } from '../../parts/forms/use-edited.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { showToast } from '../../parts/toast.tsx';
import { reloadSnippets, type Snippet } from './queries.ts';

const FIELDS = ['name', 'script'];
const NEW = { name: '', script: '' };

const formOf = ({ name, script }: Snippet) => ({ name, script });

/** Creates or changes a snippet. */
export function SnippetDialog({
  id,
  onClose,
}: {
  /** Null: a new one. */
  readonly id: number | null;
  readonly onClose: () => void;
}) {
  if (id === null) return <Editor loaded={null} query={null} onClose={onClose} />;
  return <ChangeDialog id={id} onClose={onClose} />;
}

function ChangeDialog({ id, onClose }: { readonly id: number; readonly onClose: () => void }) {
  const params = { path: { id } };
  const query = useLoaded<Snippet>(`snippet ${id}`, (signal) =>
    api.GET('/v1/snippets/{id}', { params, signal }),
  );
  return (
    <LoadedDialog title="Edit snippet" what="snippet" query={query} onClose={onClose}>
      {(loaded) => <Editor loaded={loaded} query={query} onClose={onClose} />}
    </LoadedDialog>
  );
}

function Editor({
  loaded,
  query,
  onClose,
}: {
  /** Null: a new one. */
  readonly loaded: Loaded<Snippet> | null;
  readonly query: Query<Loaded<Snippet>> | null;
  readonly onClose: () => void;
}) {
  const id = loaded?.resource.id ?? null;
  const edited = useEdited({
    loaded,
    formOf,
    initial: NEW,
    ...(query === null ? {} : { reload: query.reload }),
  });
  const { form, base, saving, change } = edited;
  const save = async (): Promise<void> => {
    const isSaved = await edited.save(async (body, etag, idempotencyKey) => {
      if (id === null) {
        const params = { header: { 'Idempotency-Key': idempotencyKey } };
        const { data } = await api.POST('/v1/snippets', { params, body });
        return { resource: data as Snippet, etag: null };
      }
      const header = etag === null ? {} : { 'If-Match': etag };
      const params = { path: { id }, header };
      const { data, response } = await api.PUT('/v1/snippets/{id}', { params, body });
      return { resource: data as Snippet, etag: response.headers.get('etag') };
    });
    if (!isSaved) return;
    reloadSnippets();
    onClose();
    showToast({ kind: 'pass', text: `The snippet ${form.name} is saved.` });
  };
  return (
    <FormDialog
      title={id === null ? 'New snippet' : `Edit ${base.name}`}
      submit={id === null ? 'Create the snippet' : 'Save'}
      isBusy={saving.isBusy}
      isChanged={edited.isChanged}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={form.name}
        onValue={(name) => change({ name })}
        problem={problemOf(saving.problems, 'name')}
        hint="Unique in the account."
        maxLength={255}
        autocomplete="off"
        required
      />
      <TextAreaField
        label="Script"
        rows={14}
        value={form.script}
        onValue={(script) => change({ script })}
        problem={problemOf(saving.problems, 'script')}
        hint="API checks and groups run it if it has at most 100,000 characters. Others have at most 500,000."
      />
      {edited.isOutdated && id !== null ? (
        <Outdated kind="snippet" id={String(id)} what="snippet" edited={edited} />
      ) : (
        <FormError error={saving.error} fields={FIELDS} />
      )}
      <FormError error={query?.error.value ?? null} fields={[]} />
    </FormDialog>
  );
}
