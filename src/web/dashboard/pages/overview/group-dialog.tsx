import { api } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import type { Query } from '../../api/query.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { CheckField, FormError, problemOf, TextAreaField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { boundsOf, limits } from '../../parts/forms/limits.ts';
import { LoadedDialog, useLoaded } from '../../parts/forms/loaded-dialog.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { SnippetField } from '../../parts/forms/snippet-field.tsx';
import { TAGS_HINT, tagsIn, tagsText } from '../../parts/forms/tags.ts';
import { useEdited } from '../../parts/forms/use-edited.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { mayLeave } from '../../parts/forms/use-unsaved-guard.ts';
import { showToast } from '../../parts/toast.tsx';

type Group = components['schemas']['CheckGroup'];
type Form = ReturnType<typeof formOf>;

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
const NEW: Form = {
  name: '',
  activated: true,
  muted: false,
  tags: '',
  concurrency: String(limits.group.concurrency.default),
  setupScript: '',
  setupSnippetId: null,
  teardownScript: '',
  teardownSnippetId: null,
};

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

interface GroupDialogProps {
  /** Null: a new one. */
  readonly id: number | null;
  /** Called instead of `onClose` if the user wants to delete the group. */
  readonly onDelete: (group: { readonly id: number; readonly name: string }) => void;
  /** Called once it is saved. */
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/** Creates or edits a group. Its locations and alert settings can only be set in check files. */
export function GroupDialog({ id, ...rest }: GroupDialogProps) {
  if (id === null) return <Editor query={null} loaded={null} {...rest} />;
  return <ChangeDialog id={id} {...rest} />;
}

function ChangeDialog({ id, ...rest }: GroupDialogProps & { readonly id: number }) {
  const params = { path: { id } };
  const query = useLoaded<Group>(`group to edit ${id}`, (signal) =>
    api.GET('/v1/check-groups/{id}', { params, signal }),
  );
  return (
    <LoadedDialog title="Edit a group" what="group" query={query} onClose={rest.onClose}>
      {(loaded) => <Editor query={query} loaded={loaded} {...rest} />}
    </LoadedDialog>
  );
}

function Editor({
  query,
  loaded,
  onDelete,
  onChanged,
  onClose,
}: Omit<GroupDialogProps, 'id'> & {
  /** Null: a new one. */
  readonly query: Query<Loaded<Group>> | null;
  readonly loaded: Loaded<Group> | null;
}) {
  const id = loaded?.resource.id ?? null;
  const edited = useEdited<Group, Form>({
    loaded,
    formOf,
    initial: NEW,
    ...(query === null ? {} : { reload: query.reload }),
  });
  const { base, form, saving } = edited;
  const save = async (): Promise<void> => {
    const isSaved = await edited.save(async (sent, etag, idempotencyKey) => {
      const body = {
        ...sent,
        tags: tagsIn(sent.tags),
        concurrency: Number(sent.concurrency),
        setupScript: sent.setupScript === '' ? null : sent.setupScript,
        teardownScript: sent.teardownScript === '' ? null : sent.teardownScript,
      };
      if (id === null) {
        const params = { header: { 'Idempotency-Key': idempotencyKey } };
        const { data } = await api.POST('/v1/check-groups', { params, body });
        return { resource: data as Group, etag: null };
      }
      const { data, response } = await api.PATCH('/v1/check-groups/{id}', {
        params: { path: { id }, header: etag === null ? {} : { 'If-Match': etag } },
        body,
      });
      return { resource: data as Group, etag: response.headers.get('etag') };
    });
    if (!isSaved) return;
    onChanged();
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
      title={id === null ? 'New group' : `Edit the group ${base.name}`}
      submit={id === null ? 'Create the group' : 'Save'}
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
        hint={`In each location, when the group is run on request. From ${limits.group.concurrency.min} to ${limits.group.concurrency.max}.`}
        type="number"
        {...boundsOf(limits.group.concurrency)}
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
      {id !== null && may('write') && (
        <Button
          kind="danger"
          onClick={() => {
            if (mayLeave(edited.isChanged)) onDelete({ id, name: base.name });
          }}
        >
          Delete the group…
        </Button>
      )}
      {edited.isOutdated && id !== null ? (
        <Outdated kind="check-group" id={String(id)} what="group" edited={edited} />
      ) : (
        <FormError error={saving.error} fields={FIELDS} />
      )}
      <FormError error={query?.error.value ?? null} fields={[]} />
    </FormDialog>
  );
}
