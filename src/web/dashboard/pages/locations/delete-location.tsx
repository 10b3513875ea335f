import { useState } from 'preact/hooks';
import { useLocation as useRouter } from 'preact-iso';
import { api } from '../../api/client.ts';
import { ensureDeleted } from '../../api/ensure-deleted.ts';
import { type ApiError, asApiError } from '../../api/errors.ts';
import { invalidate } from '../../api/query.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FormError } from '../../parts/field.tsx';
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
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const { route } = useRouter();
  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      const params = { path: { id: location.id } };
      await ensureDeleted(api.DELETE('/v1/private-locations/{id}', { params }));
      showToast({ kind: 'plain', text: `The location ${location.name} is deleted.` });
      onClose();
      route(addressOf('/locations'));
      invalidate((key) => key.startsWith('private-location-statuses?'));
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  const live = status?.agents.live ?? 0;
  return (
    <Dialog
      title={`Delete ${location.name}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" isBusy={isBusy} onClick={() => void run()}>
            Delete the location
          </Button>
        </>
      }
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
      <FormError error={error} fields={[]} />
    </Dialog>
  );
}
