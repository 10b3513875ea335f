import { useState } from 'preact/hooks';
import { api, bodyOf, pageOf } from '../../api/client.ts';
import { ensureDeleted } from '../../api/ensure-deleted.ts';
import { type ApiError, asApiError } from '../../api/errors.ts';
import type { components } from '../../api/openapi.d.ts';
import { invalidate } from '../../api/query.ts';
import { may, type Role } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { FormError, problemOf, SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { keyText } from '../../parts/formats.ts';
import { ListPanel } from '../../parts/lists/list-panel.tsx';
import { PAGE_SIZE, useList } from '../../parts/lists/use-list.ts';
import type { Column } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { showToast } from '../../parts/toast.tsx';
import { ROLES, roleOf } from './roles.ts';
import { SettingsFrame } from './settings-frame.tsx';
import { ShownOnce } from './shown-once.tsx';

type ApiKey = components['schemas']['ApiKey'];

const KEY = 'api-keys';
const reload = (): void => invalidate((key) => key.startsWith(KEY));

/** The keys of the API. */
export function Page() {
  const [isMaking, setMaking] = useState(false);
  return (
    <SettingsFrame
      current="settingsKeys"
      title="API keys"
      actions={
        <Button kind="primary" onClick={() => setMaking(true)}>
          New key
        </Button>
      }
    >
      {may('admin') && <Keys />}
      {isMaking && <NewKey onClose={() => setMaking(false)} />}
    </SettingsFrame>
  );
}

function Keys() {
  const [deleted, setDeleted] = useState<ApiKey | null>(null);
  const [showsRevoked, setShowsRevoked] = useState(false);
  const list = useList<ApiKey>(KEY, (page, signal) =>
    pageOf(api.GET('/v1/api-keys', { params: { query: { limit: PAGE_SIZE, page } }, signal })),
  );
  const all = list.query.data.value?.entries ?? [];
  const hasRevoked = all.some(({ revokedAt }) => revokedAt !== null);
  return (
    <>
      <ListPanel
        title="Keys"
        list={list}
        rows={showsRevoked ? all : all.filter(({ revokedAt }) => revokedAt === null)}
        columns={columnsOf(setDeleted)}
        keyOf={({ id }) => id}
        empty="There is no key. Programs need one to use the API."
        actions={
          hasRevoked && (
            <Button kind="plain" class="small" onClick={() => setShowsRevoked(!showsRevoked)}>
              {showsRevoked ? 'Hide deleted keys' : 'Show deleted keys'}
            </Button>
          )
        }
      />
      {deleted !== null && (
        <Confirm
          title={`Delete the key ${deleted.name}`}
          action="Delete the key"
          removesOpener
          onClose={() => setDeleted(null)}
          run={async () => {
            await ensureDeleted(
              api.DELETE('/v1/api-keys/{id}', { params: { path: { id: deleted.id } } }),
            );
            showToast({ kind: 'plain', text: `The key ${deleted.name} is deleted.` });
            reload();
          }}
        >
          <p>
            Programs with the key <code>{keyText(deleted)}</code> are refused within 5 s. This
            cannot be undone.
          </p>
          {deleted.lastUsedAt !== null && (
            <p class="settings-warning">
              It was last used <TimeText at={deleted.lastUsedAt} />.
            </p>
          )}
        </Confirm>
      )}
    </>
  );
}

function columnsOf(onDelete: (key: ApiKey) => void): readonly Column<ApiKey>[] {
  return [
    { name: 'name', head: 'Name', cell: ({ name }) => <strong>{name}</strong> },
    { name: 'key', head: 'Key', cell: (key) => <code>{keyText(key)}</code> },
    { name: 'role', head: 'Role', cell: ({ role }) => role },
    { name: 'made', head: 'Made', cell: (key) => <TimeText at={key.created_at} /> },
    {
      name: 'used',
      head: 'Last used',
      cell: ({ lastUsedAt }) =>
        lastUsedAt === null ? <span class="muted">never</span> : <TimeText at={lastUsedAt} />,
    },
    {
      name: 'actions',
      head: <span class="visually-hidden">Actions</span>,
      isNumber: true,
      cell: (key) =>
        key.revokedAt === null ? (
          <Button
            class="small"
            kind="danger"
            aria-label={`Delete ${key.name}`}
            onClick={() => onDelete(key)}
          >
            Delete
          </Button>
        ) : (
          <span class="muted">
            Deleted <TimeText at={key.revokedAt} />
          </span>
        ),
    },
  ];
}

function NewKey({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('read');
  const [made, setMade] = useState<string | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const create = async (): Promise<void> => {
    setBusy(true);
    try {
      const { key } = await bodyOf(api.POST('/v1/api-keys', { body: { name, role } }));
      setMade(key);
      reload();
    } catch (thrown) {
      setError(asApiError(thrown));
    }
    setBusy(false);
  };
  if (made !== null) {
    return (
      <ShownOnce
        title={`The key ${name}`}
        note="Keep it now: it is not shown again."
        text={made}
        copyLabel="Copy the key"
        done="I have kept it"
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog
      title="New API key"
      submit="Create the key"
      isBusy={isBusy}
      isChanged={name !== ''}
      onSubmit={() => void create()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        onValue={setName}
        hint="Which program uses it, for example Deployment."
        problem={problemOf(error?.problems ?? [], 'name')}
        maxLength={255}
        required
      />
      <SelectField
        label="Role"
        value={role}
        options={ROLES}
        onValue={(value) => setRole(roleOf(value))}
      />
      <FormError error={error} fields={['name']} />
    </FormDialog>
  );
}
