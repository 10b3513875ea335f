import { useState } from 'preact/hooks';
import { api, bodyOf } from '../../api/client.ts';
import { ensureDeleted } from '../../api/ensure-deleted.ts';
import { invalidate } from '../../api/query.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { keyText } from '../../parts/formats.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { showToast } from '../../parts/toast.tsx';
import { useAction } from '../../parts/use-action.ts';
import { type LocationKey, useKeys } from './queries.ts';

/** A key that was just created. */
export interface NewKey {
  readonly id: string;
  readonly key: string;
  readonly createdAt: string;
}

/** The most active keys of a location. */
const MAX_ACTIVE = 2;

export async function createKey(locationId: string): Promise<NewKey> {
  const params = { path: { id: locationId } };
  const { id, key, created_at } = await bodyOf(
    api.POST('/v1/private-locations/{id}/keys', { params }),
  );
  invalidate((query) => query === `private-locations/${locationId}/keys`);
  return { id, key, createdAt: created_at };
}

/** Creates, rotates and deletes the keys of the agents. */
export function KeysPanel({
  locationId,
  newKey,
  onNewKey,
}: {
  readonly locationId: string;
  readonly newKey: NewKey | null;
  readonly onNewKey: (made: NewKey | null) => void;
}) {
  const keys = useKeys(locationId);
  const [showsRevoked, setShowsRevoked] = useState(false);
  const [deleted, setDeleted] = useState<LocationKey | null>(null);
  const error = keys.error.value;
  const data = keys.data.value;
  const all = data?.entries ?? [];
  const active = all.filter(({ revokedAt }) => revokedAt === null);
  const revoked = all.filter(({ revokedAt }) => revokedAt !== null);
  const create = useAction(async () => {
    onNewKey(await createKey(locationId));
    document.getElementById('locations-start')?.scrollIntoView({ block: 'start' });
  });
  return (
    <section class="panel" aria-labelledby="locations-keys">
      <div class="panel-head">
        <h2 id="locations-keys">Keys of its agents</h2>
        <span class="locations-actions">
          {revoked.length > 0 && (
            <Button kind="plain" class="small" onClick={() => setShowsRevoked(!showsRevoked)}>
              {showsRevoked ? 'Hide deleted keys' : 'Show deleted keys'}
            </Button>
          )}
          {may('admin') && data !== null && active.length < MAX_ACTIVE && (
            <Button class="small" isBusy={create.isBusy} onClick={() => create.run()}>
              {active.length === 0 ? 'Create a key' : 'Rotate: create the next key'}
            </Button>
          )}
        </span>
      </div>
      {error !== null && <ErrorState error={error} retry={keys.reload} />}
      {data === null && error === null && <Skeleton lines={1} height={37} />}
      {data !== null && active.length === 0 && (
        <p class="panel-body muted">
          It has no key, so no agent can start.
          {may('admin') ? '' : ' Somebody with the role admin can create one.'}
        </p>
      )}
      {active.length === MAX_ACTIVE && <Rotation keys={active} />}
      {(showsRevoked ? all : active).length > 0 && (
        <Table
          label="Keys"
          columns={columnsOf(newKey, setDeleted)}
          rows={showsRevoked ? [...active, ...revoked] : active}
          keyOf={({ id }) => id}
        />
      )}
      {deleted !== null && (
        <DeleteKey
          locationId={locationId}
          deleted={deleted}
          isLast={active.length === 1}
          onClose={() => setDeleted(null)}
          onDeleted={() => {
            setDeleted(null);
            if (deleted.id === newKey?.id) onNewKey(null);
          }}
        />
      )}
    </section>
  );
}

/** An agent uses a new key within two minutes, and the last use is stored to the minute. */
const UNUSED_MS = 120_000;

function Rotation({ keys }: { readonly keys: readonly LocationKey[] }) {
  const [older, newer] = [...keys].sort((one, other) =>
    one.created_at.localeCompare(other.created_at),
  );
  if (older === undefined || newer === undefined) return null;
  const lastUse = older.lastUsedAt === null ? 0 : Date.parse(older.lastUsedAt);
  const isUnused = older.lastUsedAt === null;
  const isDone = newer.lastUsedAt !== null && Date.now() - lastUse > UNUSED_MS;
  return (
    <p class={`locations-rotation ${isDone ? 'done' : ''}`} role="status">
      {isUnused ? (
        <>
          There are two active keys, and no agent has used <code>{keyText(older)}</code> yet. Delete
          it if you have lost it.
        </>
      ) : newer.lastUsedAt === null ? (
        <>
          Rotation: give the new key <code>{keyText(newer)}</code> to the agents. They read
          API_KEY_FILE again within 10 s; those with API_KEY have to be restarted.
        </>
      ) : isDone ? (
        <>
          Rotation: no agent uses the old key <code>{keyText(older)}</code> any more. You can delete
          it.
        </>
      ) : (
        <>
          Rotation: some agents still use the old key <code>{keyText(older)}</code>. Delete it when
          its last use is two minutes ago.
        </>
      )}
    </p>
  );
}

function columnsOf(
  newKey: NewKey | null,
  onDelete: (key: LocationKey) => void,
): readonly Column<LocationKey>[] {
  const columns: Column<LocationKey>[] = [
    {
      name: 'key',
      head: 'Key',
      cell: (key) => (
        <span>
          <code>{keyText(key)}</code>
          {key.id === newKey?.id && <span class="chip locations-new">new</span>}
        </span>
      ),
    },
    { name: 'made', head: 'Made', cell: ({ created_at }) => <TimeText at={created_at} /> },
    {
      name: 'used',
      head: 'Last used',
      cell: ({ lastUsedAt }) =>
        lastUsedAt === null ? <span class="muted">never</span> : <TimeText at={lastUsedAt} />,
    },
    {
      name: 'state',
      head: 'State',
      cell: ({ revokedAt }) =>
        revokedAt === null ? (
          'Active'
        ) : (
          <span class="muted">
            Deleted <TimeText at={revokedAt} />
          </span>
        ),
    },
  ];
  if (!may('admin')) return columns;
  return [
    ...columns,
    {
      name: 'actions',
      head: <span class="visually-hidden">Actions</span>,
      isNumber: true,
      cell: (key) =>
        key.revokedAt === null && (
          <Button
            class="small"
            kind="danger"
            aria-label={`Delete key ${keyText(key)}`}
            onClick={() => onDelete(key)}
          >
            Delete
          </Button>
        ),
    },
  ];
}

function DeleteKey({
  locationId,
  deleted,
  isLast,
  onClose,
  onDeleted,
}: {
  readonly locationId: string;
  readonly deleted: LocationKey;
  readonly isLast: boolean;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}) {
  const run = async (): Promise<void> => {
    const params = { path: { id: locationId, keyId: deleted.id } };
    await ensureDeleted(api.DELETE('/v1/private-locations/{id}/keys/{keyId}', { params }));
    invalidate((key) => key.includes(locationId));
    showToast({ kind: 'plain', text: `The key ${keyText(deleted)} is deleted.` });
    onDeleted();
  };
  return (
    <Confirm
      title={`Delete the key ${keyText(deleted)}`}
      action="Delete the key"
      removesOpener
      run={run}
      onClose={onClose}
    >
      <p>
        Agents with this key are refused within 5 s. They continue to run their checks, but their
        results wait until they have another key. This cannot be undone.
      </p>
      {deleted.lastUsedAt !== null && (
        <p class="locations-warning">
          It was last used <TimeText at={deleted.lastUsedAt} />.
        </p>
      )}
      {isLast && <p class="locations-warning">It is the only active key of the location.</p>}
    </Confirm>
  );
}
