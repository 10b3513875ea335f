import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api } from '../../api/client.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { FormError, problemOf, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { counted } from '../../parts/formats.ts';
import { useSaving } from '../../parts/forms/use-saving.ts';
import { ListPanel } from '../../parts/lists/list-panel.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import type { Column } from '../../parts/table.tsx';
import { addressOf, Link } from '../../shell/link.tsx';
import { slugOf } from '../locations/edit-location.tsx';
import { forgetPages, publicPath, type StatusPage, usePages } from './queries.ts';
import './status-pages.css';

const COLUMNS: readonly Column<StatusPage>[] = [
  {
    name: 'name',
    head: 'Page',
    cell: ({ id, name, isPrivate }) => (
      <span class="status-pages-name">
        <Link to={`/status-pages/${id}`}>{name}</Link>
        {isPrivate && <span class="chip">private</span>}
      </span>
    ),
  },
  {
    name: 'address',
    head: 'Address',
    cell: (page) => (
      <a href={publicPath(page)} target="_blank" rel="noreferrer">
        /status/{page.url}
      </a>
    ),
  },
  { name: 'domain', head: 'Domain', cell: ({ customDomain }) => customDomain ?? '–' },
  {
    name: 'services',
    head: 'Services',
    isNumber: true,
    cell: ({ cards }) =>
      counted(
        cards.reduce((sum, { services }) => sum + services.length, 0),
        'service',
      ),
  },
];

/** The status pages of the account. */
export function Page() {
  const [isMaking, setMaking] = useState(false);
  const list = usePages();
  const { data, error, reload } = list.query;
  const isEmpty = data.value?.entries.length === 0;
  return (
    <>
      <PageHeader
        title="Status pages"
        actions={
          may('write') && (
            <Button kind="primary" onClick={() => setMaking(true)}>
              New page
            </Button>
          )
        }
      />
      {isEmpty && error.value !== null && <ErrorState error={error.value} retry={reload} />}
      {isEmpty ? (
        <div class="panel">
          <EmptyState title="There is no status page yet">
            A status page tells your customers how your services are: from checks, heartbeats and
            incidents.
          </EmptyState>
        </div>
      ) : (
        <ListPanel title="Pages" list={list} columns={COLUMNS} keyOf={({ id }) => id} empty="" />
      )}
      {isMaking && <NewPage onClose={() => setMaking(false)} />}
    </>
  );
}

function NewPage({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [url, setUrl] = useState<string | null>(null);
  const saving = useSaving();
  const { route } = useLocation();
  const address = url ?? slugOf(name).slice(0, 63);
  const make = () =>
    saving.run(async (key) => {
      const { data } = await api.POST('/v1/status-pages', {
        params: { header: { 'Idempotency-Key': key } },
        body: { name, url: address },
      });
      forgetPages();
      onClose();
      route(addressOf(`/status-pages/${(data as StatusPage).id}`));
    });
  return (
    <FormDialog
      title="New status page"
      submit="Create the page"
      isBusy={saving.isBusy}
      isChanged={name !== '' || url !== null}
      onSubmit={() => void make()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        onValue={setName}
        problem={problemOf(saving.problems, 'name')}
        maxLength={255}
        required
      />
      <TextField
        label="Address"
        value={address}
        onValue={setUrl}
        hint={`Readers open /status/${address}`}
        problem={problemOf(saving.problems, 'url')}
        maxLength={63}
        autocomplete="off"
        required
      />
      <FormError error={saving.error} fields={['name', 'url']} />
    </FormDialog>
  );
}
