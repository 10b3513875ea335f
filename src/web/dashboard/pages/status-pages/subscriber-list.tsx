import { useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { ensureDeleted } from '../../api/ensure-deleted.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { counted } from '../../parts/formats.ts';
import { ListPanel } from '../../parts/lists/list-panel.tsx';
import { StateMark } from '../../parts/states/state-mark.tsx';
import type { Column } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { showToast } from '../../parts/toast.tsx';
import { forgetPages, type StatusPage, type Subscriber, useSubscribers } from './queries.ts';

const STATES = {
  active: <StateMark state="passing" word="Active" />,
  unconfirmed: <StateMark state="unknown" word="Not confirmed" />,
  suspended: <StateMark state="degraded" word="Suspended" />,
} as const satisfies Record<Subscriber['state'], unknown>;

const COLUMNS: readonly Column<Subscriber>[] = [
  {
    name: 'address',
    head: 'Address',
    cell: ({ address }) => address ?? <span class="muted">not readable</span>,
  },
  { name: 'kind', head: 'By', cell: ({ kind }) => kind },
  {
    name: 'state',
    head: 'State',
    cell: ({ state, suspendedUntil, bounces }) => (
      <>
        {STATES[state]}
        {suspendedUntil !== null && (
          <span class="muted">
            {' '}
            until <TimeText at={suspendedUntil} form="full" />
          </span>
        )}
        {bounces > 0 && <span class="muted"> {counted(bounces, 'message')} refused</span>}
      </>
    ),
  },
  {
    name: 'services',
    head: 'Services',
    isOptional: true,
    cell: ({ services }) => (services === null ? 'all' : counted(services.length, 'service')),
  },
  { name: 'since', head: 'Since', cell: (one) => <TimeText at={one.created_at} form="date" /> },
];

/** The subscribers to the incidents of a page. */
export function SubscriberList({ page }: { readonly page: StatusPage }) {
  const [removed, setRemoved] = useState<Subscriber | null>(null);
  const list = useSubscribers(page.id);
  const actions: Column<Subscriber> = {
    name: 'actions',
    head: <span class="visually-hidden">Actions</span>,
    isNumber: true,
    cell: (one) => (
      <Button
        class="small"
        kind="danger"
        aria-label={`Remove ${one.address ?? one.id}`}
        onClick={() => setRemoved(one)}
      >
        Remove
      </Button>
    ),
  };
  return (
    <>
      <ListPanel
        title="Subscribers"
        list={list}
        columns={may('write') ? [...COLUMNS, actions] : COLUMNS}
        keyOf={({ id }) => id}
        empty="Nobody has subscribed yet. Readers do it on the page."
      />
      {removed !== null && (
        <Confirm
          title={`Remove ${removed.address ?? 'the subscriber'}`}
          action="Remove the subscriber"
          removesOpener
          onClose={() => setRemoved(null)}
          run={async () => {
            const path = { statusPageId: page.id, subscriberId: removed.id };
            await ensureDeleted(
              api.DELETE('/v1/status-pages/{statusPageId}/subscribers/{subscriberId}', {
                params: { path },
              }),
            );
            forgetPages();
            showToast({ kind: 'plain', text: 'The subscriber is removed.' });
          }}
        >
          <p>
            The address gets no more messages about this page, and is not notified of this. Its
            owner can subscribe again.
          </p>
        </Confirm>
      )}
    </>
  );
}
