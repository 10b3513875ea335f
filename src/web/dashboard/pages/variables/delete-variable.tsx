import { api } from '../../api/client.ts';
import { ensureDeleted } from '../../api/ensure-deleted.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { counted } from '../../parts/formats.ts';
import { showToast } from '../../parts/toast.tsx';
import { runOrToast } from '../../parts/use-action.ts';
import { reloadVariables, useUsesOf, type Variable } from './queries.ts';
import { CheckLinks } from './used-by.tsx';

/** Names the checks that use the variable. A value that is not hidden can be restored afterwards. */
export function DeleteVariable({
  variable,
  onClose,
}: {
  readonly variable: Variable;
  readonly onClose: () => void;
}) {
  const { key, value, secret } = variable;
  const use = useUsesOf(key);
  const found = use.data.value;
  const run = async (): Promise<void> => {
    await ensureDeleted(api.DELETE('/v1/variables/{key}', { params: { path: { key } } }));
    reloadVariables();
    const text = `The variable ${key} is deleted.`;
    if (secret || value === null) showToast({ kind: 'plain', text });
    else {
      const undo = {
        label: 'Undo',
        run: () => void runOrToast(() => restore({ ...variable, value })),
      };
      showToast({ kind: 'plain', text, action: undo });
    }
  };
  return (
    <Confirm
      title={`Delete ${key}`}
      action="Delete the variable"
      removesOpener
      run={run}
      onClose={onClose}
    >
      {use.isLoading.value && found === null && (
        <p class="muted">Looking for checks that use it…</p>
      )}
      {found !== null && (
        <>
          <p class="failing">
            {counted(found.checkCount, 'check')} {found.checkCount === 1 ? 'uses' : 'use'} it.
            Unless their agents have a variable of that name, their next runs fail:
          </p>
          <div class="variables-all-checks">
            <CheckLinks checks={found.checks} total={found.checkCount} />
          </div>
        </>
      )}
      {!use.isLoading.value && use.error.value === null && found === null && (
        <p>No check uses it.</p>
      )}
      {secret && <p>Its value is lost: nobody can read it, so it cannot be restored.</p>}
    </Confirm>
  );
}

async function restore({ key, value, locked }: Variable & { value: string }): Promise<void> {
  await api.POST('/v1/variables', { body: { key, value, locked, secret: false } });
  reloadVariables();
}
