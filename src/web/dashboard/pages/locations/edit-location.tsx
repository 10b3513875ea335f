import { useState } from 'preact/hooks';
import { useLocation as useRouter } from 'preact-iso';
import { api, bodyOf } from '../../api/client.ts';
import { type ApiError, asApiError } from '../../api/errors.ts';
import { invalidate, type Query } from '../../api/query.ts';
import { FormError, problemOf, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { LoadedDialog, useLoaded } from '../../parts/forms/loaded-dialog.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { useEdited } from '../../parts/forms/use-edited.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { showToast } from '../../parts/toast.tsx';
import { addressOf } from '../../shell/link.tsx';
import type { PrivateLocation } from './queries.ts';

const FIELDS = ['name', 'slug', 'proxyUrl'];
const PROXY_HINT =
  'URL, API and DOH checks of the location go through it, for example http://proxy.internal:3128. Empty: directly.';

/** `Data centre Köln` becomes `data-centre-koln`. */
export function slugOf(name: string): string {
  return name
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 100);
}

export function NewLocation({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [slug, setSlug] = useState<string | null>(null);
  const [proxyUrl, setProxyUrl] = useState('');
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const { route } = useRouter();
  const create = async (): Promise<void> => {
    setBusy(true);
    try {
      const body = {
        name,
        slug: slug ?? slugOf(name),
        proxyUrl: proxyUrl === '' ? null : proxyUrl,
      };
      const { id } = await bodyOf(api.POST('/v1/private-locations', { body }));
      invalidate((key) => key.startsWith('private-location'));
      onClose();
      route(addressOf(`/locations/${id}`));
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
    }
  };
  const problems = error?.problems ?? [];
  return (
    <FormDialog
      title="New location"
      submit="Create the location"
      isBusy={isBusy}
      isChanged={name !== '' || slug !== null || proxyUrl !== ''}
      onSubmit={() => void create()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        onValue={setName}
        problem={problemOf(problems, 'name')}
        hint="For people, for example Office Berlin."
        maxLength={255}
        required
      />
      <TextField
        label="Slug"
        value={slug ?? slugOf(name)}
        onValue={setSlug}
        problem={problemOf(problems, 'slug')}
        hint="Its name in checks, check files and results. It never changes."
        maxLength={100}
        autocomplete="off"
        required
      />
      <details class="locations-more">
        <summary>Proxy</summary>
        <TextField
          label="Proxy of its checks"
          value={proxyUrl}
          onValue={setProxyUrl}
          problem={problemOf(problems, 'proxyUrl')}
          hint={PROXY_HINT}
          autocomplete="off"
        />
      </details>
      <FormError error={error} fields={FIELDS} />
    </FormDialog>
  );
}

const formOf = ({ name, proxyUrl }: PrivateLocation) => ({ name, proxyUrl: proxyUrl ?? '' });

export function EditLocation({
  id,
  onClose,
}: {
  readonly id: string;
  readonly onClose: () => void;
}) {
  const params = { path: { id } };
  const query = useLoaded<PrivateLocation>(`private-location to edit ${id}`, (signal) =>
    api.GET('/v1/private-locations/{id}', { params, signal }),
  );
  return (
    <LoadedDialog title="Edit location" what="location" query={query} onClose={onClose}>
      {(loaded) => <EditForm id={id} loaded={loaded} reload={query.reload} onClose={onClose} />}
    </LoadedDialog>
  );
}

function EditForm({
  id,
  loaded,
  reload,
  onClose,
}: {
  readonly id: string;
  readonly loaded: Loaded<PrivateLocation>;
  readonly reload: Query<unknown>['reload'];
  readonly onClose: () => void;
}) {
  const edited = useEdited({ loaded, formOf, reload });
  const { name, proxyUrl } = edited.form;
  const { error, isBusy } = edited.saving;
  const save = async (): Promise<void> => {
    const isSaved = await edited.save(async ({ name, proxyUrl }, etag) => {
      const { data, response } = await api.PATCH('/v1/private-locations/{id}', {
        params: {
          path: { id },
          header: etag === null ? {} : { 'If-Match': etag },
        },
        body: { name, proxyUrl: proxyUrl === '' ? null : proxyUrl },
      });
      return { resource: data as PrivateLocation, etag: response.headers.get('etag') };
    });
    if (!isSaved) return;
    invalidate((key) => key.startsWith('private-location'));
    showToast({ kind: 'pass', text: 'The location is saved.' });
    onClose();
  };
  const problems = error?.problems ?? [];
  return (
    <FormDialog
      title="Edit location"
      submit="Save"
      isBusy={isBusy}
      isChanged={edited.isChanged}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        onValue={(name) => edited.change({ name })}
        problem={problemOf(problems, 'name')}
        maxLength={255}
        required
      />
      <TextField
        label="Proxy of its checks"
        value={proxyUrl}
        onValue={(proxyUrl) => edited.change({ proxyUrl })}
        problem={problemOf(problems, 'proxyUrl')}
        hint={`${PROXY_HINT} ******** keeps the stored password.`}
        autocomplete="off"
      />
      {edited.isOutdated ? (
        <Outdated kind="private-location" id={id} what="location" edited={edited} />
      ) : (
        <FormError error={error} fields={FIELDS} />
      )}
    </FormDialog>
  );
}
