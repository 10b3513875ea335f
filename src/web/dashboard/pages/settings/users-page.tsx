import { useState } from 'preact/hooks';
import { api, bodyOf, pageOf } from '../../api/client.ts';
import { ensureDeleted } from '../../api/ensure-deleted.ts';
import { type ApiError, asApiError } from '../../api/errors.ts';
import type { components, paths } from '../../api/openapi.d.ts';
import { invalidate } from '../../api/query.ts';
import { may, type Role, session } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { FormError, problemOf, SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { ListPanel } from '../../parts/lists/list-panel.tsx';
import { PAGE_SIZE, useList } from '../../parts/lists/use-list.ts';
import type { Column } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { showToast } from '../../parts/toast.tsx';
import { useAction } from '../../parts/use-action.ts';
import { ROLES, roleOf } from './roles.ts';
import { SettingsFrame } from './settings-frame.tsx';
import { ShownOnce } from './shown-once.tsx';

type User = paths['/v1/users']['get']['responses']['200']['content']['application/json'][number];
type Invitation = components['schemas']['Invitation'];

const reload = (): void =>
  invalidate((key) => key.startsWith('users') || key.startsWith('invitations'));

/** Users of the account, and those who are invited. */
export function Page() {
  const [isInviting, setInviting] = useState(false);
  return (
    <SettingsFrame
      current="settingsUsers"
      title="Users"
      actions={
        <Button kind="primary" onClick={() => setInviting(true)}>
          Invite
        </Button>
      }
    >
      {may('admin') && (
        <>
          <Users />
          <Invitations />
        </>
      )}
      {isInviting && <Invite onClose={() => setInviting(false)} />}
    </SettingsFrame>
  );
}

function Users() {
  const [removed, setRemoved] = useState<User | null>(null);
  const list = useList<User>('users', (page, signal) =>
    pageOf(api.GET('/v1/users', { params: { query: { limit: PAGE_SIZE, page } }, signal })),
  );
  const change = useAction(async (user: User, role: Role) => {
    try {
      await api.PATCH('/v1/users/{id}', { params: { path: { id: user.id } }, body: { role } });
      showToast({ kind: 'pass', text: `${user.email} has the role ${role}.` });
    } finally {
      reload();
    }
  });
  const columns: readonly Column<User>[] = [
    {
      name: 'email',
      head: 'User',
      cell: ({ email }) => (
        <span>
          <strong>{email}</strong>
          {email === session.value.email && <span class="chip settings-chip">you</span>}
        </span>
      ),
    },
    {
      name: 'role',
      head: 'Role',
      cell: (user) => (
        <select
          class="settings-role"
          aria-label={`Role of ${user.email}`}
          value={user.role}
          onChange={(event) => change.run(user, roleOf(event.currentTarget.value))}
        >
          {ROLES.map(({ value }) => (
            <option key={value} value={value}>
              {value}
            </option>
          ))}
        </select>
      ),
    },
    {
      name: 'joined',
      head: 'Joined',
      cell: (user) => <TimeText at={user.created_at} form="date" />,
    },
    {
      name: 'seen',
      head: 'Last sign-in',
      cell: ({ lastSignInAt }) =>
        lastSignInAt === null ? <span class="muted">never</span> : <TimeText at={lastSignInAt} />,
    },
    {
      name: 'actions',
      head: <span class="visually-hidden">Actions</span>,
      isNumber: true,
      cell: (user) => (
        <Button
          class="small"
          kind="danger"
          aria-label={`Remove ${user.email}`}
          onClick={() => setRemoved(user)}
        >
          Remove
        </Button>
      ),
    },
  ];
  return (
    <>
      <ListPanel
        title="Users of the account"
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        empty="The account has no user."
      />
      {removed !== null && (
        <Confirm
          title={`Remove ${removed.email}`}
          action="Remove the user"
          removesOpener
          onClose={() => setRemoved(null)}
          run={async () => {
            await ensureDeleted(
              api.DELETE('/v1/users/{id}', { params: { path: { id: removed.id } } }),
            );
            showToast({ kind: 'plain', text: `${removed.email} is removed.` });
            reload();
          }}
        >
          <p>
            The user no longer sees this account, and can still sign in to others. To undo it,
            invite the same email again.
          </p>
        </Confirm>
      )}
    </>
  );
}

function Invitations() {
  const [withdrawn, setWithdrawn] = useState<Invitation | null>(null);
  const list = useList<Invitation>('invitations', (page, signal) =>
    pageOf(api.GET('/v1/invitations', { params: { query: { limit: PAGE_SIZE, page } }, signal })),
  );
  const data = list.query.data.value;
  if (data !== null && data.entries.length === 0 && list.query.error.value === null) return null;
  const columns: readonly Column<Invitation>[] = [
    { name: 'email', head: 'Email', cell: ({ email }) => <strong>{email}</strong> },
    { name: 'role', head: 'Role', cell: ({ role }) => role },
    { name: 'made', head: 'Invited', cell: (one) => <TimeText at={one.created_at} /> },
    {
      name: 'ends',
      head: 'Link works until',
      cell: (one) => <TimeText at={one.expiresAt} form="full" />,
    },
    {
      name: 'actions',
      head: <span class="visually-hidden">Actions</span>,
      isNumber: true,
      cell: (one) => (
        <Button
          class="small"
          aria-label={`Withdraw ${one.email}`}
          onClick={() => setWithdrawn(one)}
        >
          Withdraw
        </Button>
      ),
    },
  ];
  return (
    <>
      <ListPanel
        title="Open invitations"
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        empty="Nobody is invited."
      />
      {withdrawn !== null && (
        <Confirm
          title={`Withdraw the invitation of ${withdrawn.email}`}
          action="Withdraw it"
          removesOpener
          onClose={() => setWithdrawn(null)}
          run={async () => {
            await ensureDeleted(
              api.DELETE('/v1/invitations/{id}', { params: { path: { id: withdrawn.id } } }),
            );
            reload();
          }}
        >
          <p>The link stops working. You can invite the same email again, by another link.</p>
        </Confirm>
      )}
    </>
  );
}

function Invite({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('read');
  const [url, setUrl] = useState<string | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  const invite = async (): Promise<void> => {
    setBusy(true);
    try {
      setUrl((await bodyOf(api.POST('/v1/invitations', { body: { email, role } }))).url);
      reload();
    } catch (thrown) {
      setError(asApiError(thrown));
    }
    setBusy(false);
  };
  if (url !== null) {
    return (
      <ShownOnce
        title={`Send this link to ${email}`}
        note="It works once, for 7 days, and is not shown again. The service sends no email."
        text={url}
        copyLabel="Copy the link"
        done="Done"
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog
      title="Invite a user"
      submit="Create the link"
      isBusy={isBusy}
      isChanged={email !== ''}
      onSubmit={() => void invite()}
      onClose={onClose}
    >
      <TextField
        label="Email"
        type="email"
        value={email}
        onValue={setEmail}
        problem={problemOf(error?.problems ?? [], 'email')}
        autocomplete="off"
        required
      />
      <SelectField
        label="Role"
        value={role}
        options={ROLES}
        onValue={(value) => setRole(roleOf(value))}
      />
      <FormError error={error} fields={['email']} />
    </FormDialog>
  );
}
