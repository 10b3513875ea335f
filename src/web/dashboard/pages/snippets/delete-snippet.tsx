import { api } from '../../api/client.ts';
import { ensureDeleted } from '../../api/ensure-deleted.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { showToast } from '../../parts/toast.tsx';
import { runOrToast } from '../../parts/use-action.ts';
import { reloadSnippets, type Snippet } from './queries.ts';

/** A deleted snippet can be restored, under another id. */
export function DeleteSnippet({
  snippet,
  onClose,
}: {
  readonly snippet: Snippet;
  readonly onClose: () => void;
}) {
  const { id, name } = snippet;
  const run = async (): Promise<void> => {
    await ensureDeleted(api.DELETE('/v1/snippets/{id}', { params: { path: { id } } }));
    reloadSnippets();
    showToast({
      kind: 'plain',
      text: `The snippet ${name} is deleted.`,
      action: { label: 'Undo', run: () => void runOrToast(() => restore(snippet)) },
    });
  };
  return (
    <Confirm
      title={`Delete ${name}`}
      action="Delete the snippet"
      removesOpener
      run={run}
      onClose={onClose}
    >
      <p>
        Its script is deleted with it. A snippet that a check or a group runs cannot be deleted.
      </p>
    </Confirm>
  );
}

async function restore({ name, script }: Snippet): Promise<void> {
  await api.POST('/v1/snippets', { body: { name, script } });
  reloadSnippets();
}
