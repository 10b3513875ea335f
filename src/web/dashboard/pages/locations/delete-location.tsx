import { useLocation as useRouter } from 'preact-iso';
import { api } from '../../api/client.ts';
import { ensureDeleted } from '../../api/ensure-deleted.ts';
import { invalidate } from '../../api/query.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { counted } from '../../parts/formats.ts';
import { showToast } from '../../parts/toast.tsx';
import { addressOf, Link } from '../../shell/link.tsx';
import type { LocationStatus, PrivateLocation } from './queries.ts';

export function DeleteLocation({
  location,
  status,
  onClose,
}: {
  readonly location: PrivateLocation;
  readonly status: LocationStatus | null;
  readonly onClose: () => void;
}) {
  const { route } = useRouter();
  const run = async (): Promise<void> => {
    const params = { path: { id: location.id } };
    await ensureDeleted(api.DELETE('/v1/private-locations/{id}', { params }));
    showToast({ kind: 'plain', text: `The location ${location.name} is deleted.` });
    route(addressOf('/locations'), true);
    invalidate((key) => key.startsWith('private-location-statuses?'));
  };
  const live = status?.agents.live ?? 0;
  return (
    <Confirm
      title={`Delete ${location.name}`}
      action="Delete the location"
      run={run}
      onClose={onClose}
    >
      <p>
        Its keys are deleted with it
        {live > 0 ? `, and ${counted(live, 'agent')} that polls now is refused` : ''}. Results of
        the past stay with their checks. This cannot be undone.
      </p>
      {(status?.checks ?? 0) > 0 && (
        <p class="locations-warning">
          <Link to={`/?location=${encodeURIComponent(location.slug)}`}>
            {counted(status?.checks ?? 0, 'check')}
          </Link>{' '}
          still run there. Remove the location from them first.
        </p>
      )}
    </Confirm>
  );
}
