import { api } from '../../api/client.ts';
import { ensureDeleted } from '../../api/ensure-deleted.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { showToast } from '../../parts/toast.tsx';

/** Deletes a group after a warning about the settings that its checks lose. */
export function DeleteGroup({
  id,
  name,
  onChanged,
  onClose,
}: {
  readonly id: number;
  readonly name: string;
  /** Called once it is deleted. */
  readonly onChanged: () => void;
  readonly onClose: () => void;
}) {
  const run = async (): Promise<void> => {
    await ensureDeleted(api.DELETE('/v1/check-groups/{id}', { params: { path: { id } } }));
    onChanged();
    showToast({ kind: 'plain', text: `The group ${name} is deleted.` });
  };
  return (
    <Confirm
      title={`Delete the group ${name}`}
      action="Delete the group"
      removesOpener
      run={run}
      onClose={onClose}
    >
      <p>
        Its checks stay, without a group. They lose its tags, locations, alert settings and scripts,
        and run and alert as their own settings say. This cannot be undone.
      </p>
    </Confirm>
  );
}
