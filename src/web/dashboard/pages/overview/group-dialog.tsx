import { api } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import type { Query } from '../../api/query.ts';
import { CheckField, FormError, problemOf, TextAreaField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { LoadedDialog, useLoaded } from '../../parts/forms/loaded-dialog.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { SnippetField } from '../../parts/forms/snippet-field.tsx';
import { TAGS_HINT, tagsIn, tagsText } from '../../parts/forms/tags.ts';
import { useEdited } from '../../parts/forms/use-edited.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { showToast } from '../../parts/toast.tsx';

type Group = components['schemas']['CheckGroup'];
type Form = ReturnType<typeof formOf>;

const MAX_CONCURRENCY = 100;
const FIELDS = [
  'name',
  'tags',
  'activated',
  'muted',
  'concurrency',
  'setupScript',
  'setupSnippetId',
  'teardownScript',
  'teardownSnippetId',
];

function formOf(group: Group) {
  const { name, activated, muted, tags, concurrency, setupScript, teardownScript } = group;
  const { setupSnippetId, teardownSnippetId } = group;
  return {
    ...{ name, activated, muted, setupSnippetId, teardownSnippetId },
    tags: tagsText(tags),
    concurrency: String(concurrency),
    setupScript: setupScript ?? '',
    teardownScript: teardownScript ?? '',
  };
}

/** Edits what a group does to its checks. Its locations and alert settings are left to check files. */
export function GroupDialog({
  id,
  onClose,
}: {
  readonly id: number;
  readonly onClose: () => void;
}) {
  const params = { path: { id } };
  const query = useLoaded<Group>(`group to edit ${id}`, (signal) =>
    api.GET('/v1/check-groups/{id}', { params, signal }),
  );
  return (
    <LoadedDialog title="Edit a group" what="group" query={query} onClose={onClose}>
      {(loaded) => <Editor id={id} query={query} loaded={loaded} onClose={onClose} />}
    </LoadedDialog>
  );
}

function Editor({
  id,
  query,
  loaded,
  onClose,
}: {
  readonly id: number;
  readonly query: Query<Loaded<Group>>;
  readonly loaded: Loaded<Group>;
  readonly onClose: () => void;
}) {
  const edited = useEdited<Group, Form>({ loaded, formOf, reload: query.reload });
  const { base, form, saving } = edited;
  const save = async (): Promise<void> => {
    const isSaved = await edited.save(async (sent, etag) => {
      const { data, response } = await api.PATCH('/v1/check-groups/{id}', {
        params: { path: { id }, header: etag === null ? {} : { 'If-Match': etag } },
        body: {
          ...sent,
          tags: tagsIn(sent.tags),
          concurrency: Number(sent.concurrency),
          setupScript: sent.setupScript === '' ? null : sent.setupScript,
          teardownScript: sent.teardownScript === '' ? null : sent.teardownScript,
        },
      });
      return { resource: data as Group, etag: response.headers.get('etag') };
    });
    if (!isSaved) return;
    onClose();
    showToast({ kind: 'pass', text: `The group ${form.name} is saved.` });
  };
  const problem = (name: keyof Form) => problemOf(saving.problems, name);
  const textOf = (name: 'name' | 'tags' | 'concurrency' | 'setupScript' | 'teardownScript') => ({
    value: form[name],
    onValue: (value: string) => edited.change({ [name]: value }),
    problem: problem(name),
  });
  const snippetOf = (name: 'setupSnippetId' | 'teardownSnippetId') => ({
    id: form[name],
    onId: (next: number | null) => edited.change({ [name]: next }),
    problem: problem(name),
  });
  return (
    <FormDialog
      title={`Edit the group ${base.name}`}
      submit="Save"
      isBusy={saving.isBusy}
      isChanged={edited.isChanged}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      <TextField label="Name" maxLength={255} autocomplete="off" required {...textOf('name')} />
      <TextField label="Tags" hint={TAGS_HINT} autocomplete="off" {...textOf('tags')} />
      <CheckField
        label="Its checks run"
        isChecked={form.activated}
        onValue={(activated) => edited.change({ activated })}
      />
      <CheckField
        label="Muted: its checks send no alerts"
        isChecked={form.muted}
        onValue={(muted) => edited.change({ muted })}
      />
      <TextField
        label="Checks at once"
        hint="In each location, when the group is run on request."
        type="number"
        min={1}
        max={MAX_CONCURRENCY}
        required
        {...textOf('concurrency')}
      />
      <TextAreaField
        label="Before the requests of its API checks"
        hint="JavaScript. It runs before the setup script of the check. Give a script or a snippet."
        rows={4}
        {...textOf('setupScript')}
      />
      <SnippetField label="Snippet before the requests" {...snippetOf('setupSnippetId')} />
      <TextAreaField
        label="After the responses to its API checks"
        hint="JavaScript. It runs after the teardown script of the check."
        rows={4}
        {...textOf('teardownScript')}
      />
      <SnippetField label="Snippet after the responses" {...snippetOf('teardownSnippetId')} />
      {edited.isOutdated ? (
        <Outdated kind="check-group" id={String(id)} what="group" edited={edited} />
      ) : (
        <FormError error={saving.error} fields={FIELDS} />
      )}
      <FormError error={query.error.value} fields={[]} />
    </FormDialog>
  );
}
