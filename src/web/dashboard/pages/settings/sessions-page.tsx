import { useState } from 'preact/hooks';
import { api, bodyOf } from '../../api/client.ts';
import { ensureDeleted } from '../../api/ensure-deleted.ts';
import { type ApiError, asApiError } from '../../api/errors.ts';
import type { paths } from '../../api/openapi.d.ts';
import { invalidate } from '../../api/query.ts';
import { session } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { FormError, problemOf, TextField } from '../../parts/field.tsx';
import { useUnsavedGuard } from '../../parts/forms/use-unsaved-guard.ts';
import { ListPanel } from '../../parts/lists/list-panel.tsx';
import { useList } from '../../parts/lists/use-list.ts';
import type { Column } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { showToast } from '../../parts/toast.tsx';
import { useAction } from '../../parts/use-action.ts';
import { basePath } from '../../shell/base-path.ts';
import { SettingsFrame } from './settings-frame.tsx';

type Session =
  paths['/v1/sessions']['get']['responses']['200']['content']['application/json'][number];

const reload = (): void => invalidate((key) => key.startsWith('sessions'));

/** The user's own sessions and password. */
export function Page() {
  return (
    <SettingsFrame current="settingsSessions" title="Your sign-in">
      <p class="settings-lead muted">
        You are signed in as <strong>{session.value.email}</strong>.
      </p>
      <Sessions />
      <Password />
    </SettingsFrame>
  );
}

function Sessions() {
  const [isEverywhere, setEverywhere] = useState(false);
  const list = useList<Session>('sessions', async (_page, signal) => {
    const entries = await bodyOf(api.GET('/v1/sessions', { signal }));
    return { entries, total: entries.length, isAtLeast: false };
  });
  const end = useAction(async ({ id }: Session) => {
    try {
      await ensureDeleted(api.DELETE('/v1/sessions/{id}', { params: { path: { id } } }));
      showToast({ kind: 'plain', text: 'The browser is signed out.' });
    } finally {
      reload();
    }
  });
  const columns: readonly Column<Session>[] = [
    {
      name: 'browser',
      head: 'Browser',
      cell: ({ userAgent, current }) => (
        <span>
          <span title={userAgent ?? undefined}>{browserOf(userAgent)}</span>
          {current && <span class="chip settings-chip">this one</span>}
        </span>
      ),
    },
    { name: 'address', head: 'Address', cell: ({ address }) => <code>{address}</code> },
    { name: 'since', head: 'Signed in', cell: (one) => <TimeText at={one.created_at} /> },
    { name: 'used', head: 'Last used', cell: (one) => <TimeText at={one.lastUsedAt} /> },
    { name: 'ends', head: 'Ends', cell: (one) => <TimeText at={one.endsAt} form="full" /> },
    {
      name: 'actions',
      head: <span class="visually-hidden">Actions</span>,
      isNumber: true,
      cell: (one) =>
        !one.current && (
          <Button
            class="small"
            aria-label={`Sign out ${browserOf(one.userAgent)} at ${one.address}`}
            onClick={() => end.run(one)}
          >
            Sign out
          </Button>
        ),
    },
  ];
  return (
    <>
      <ListPanel
        title="Where you are signed in"
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        empty="Nowhere."
        actions={
          <Button class="small" onClick={() => setEverywhere(true)}>
            Sign out everywhere
          </Button>
        }
      />
      {isEverywhere && (
        <Confirm
          title="Sign out everywhere"
          action="Sign out everywhere"
          onClose={() => setEverywhere(false)}
          run={async () => {
            await api.DELETE('/v1/sessions');
            location.assign(`${basePath}/sign-in`);
          }}
        >
          <p>All of your sessions end, including this one. API keys stay valid.</p>
        </Confirm>
      )}
    </>
  );
}

/** `Chrome on Linux`. The title contains the whole text. */
function browserOf(userAgent: string | null): string {
  if (userAgent === null || userAgent === '') return 'Unknown browser';
  const browsers = [
    ['Edg/', 'Edge'],
    ['OPR/', 'Opera'],
    ['Firefox/', 'Firefox'],
    ['Chrome/', 'Chrome'],
    ['Safari/', 'Safari'],
  ] as const;
  const systems = [
    ['Android', 'Android'],
    ['iPhone', 'iPhone'],
    ['iPad', 'iPad'],
    ['Windows', 'Windows'],
    ['Mac OS', 'macOS'],
    ['Linux', 'Linux'],
  ] as const;
  const browser = browsers.find(([part]) => userAgent.includes(part))?.[1];
  const system = systems.find(([part]) => userAgent.includes(part))?.[1];
  if (browser === undefined) return userAgent.slice(0, 60);
  return system === undefined ? browser : `${browser} on ${system}`;
}

const FIELDS = ['currentPassword', 'newPassword'];

function Password() {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const [error, setError] = useState<ApiError | null>(null);
  const [isBusy, setBusy] = useState(false);
  useUnsavedGuard(currentPassword !== '' || newPassword !== '');
  const change = async (): Promise<void> => {
    setBusy(true);
    try {
      await api.PUT('/v1/password', { body: { currentPassword, newPassword } });
      setCurrent('');
      setNew('');
      setError(null);
      showToast({
        kind: 'pass',
        text: 'The password is changed. You are signed out everywhere else.',
      });
      reload();
    } catch (thrown) {
      setError(asApiError(thrown));
    }
    setBusy(false);
  };
  const problems = error?.problems ?? [];
  return (
    <section class="panel" aria-labelledby="settings-password">
      <div class="panel-head">
        <h2 id="settings-password">Password</h2>
      </div>
      <form
        class="panel-body settings-form"
        onSubmit={(event) => {
          event.preventDefault();
          void change();
        }}
      >
        <TextField
          label="Current password"
          type="password"
          autocomplete="current-password"
          value={currentPassword}
          onValue={setCurrent}
          problem={problemOf(problems, 'currentPassword')}
          required
        />
        <TextField
          label="New password"
          type="password"
          autocomplete="new-password"
          hint="8 to 256 characters of any kind. It signs you out everywhere else."
          value={newPassword}
          onValue={setNew}
          problem={problemOf(problems, 'newPassword')}
          required
        />
        <FormError error={error} fields={FIELDS} />
        <Button type="submit" isBusy={isBusy}>
          Change the password
        </Button>
      </form>
    </section>
  );
}
