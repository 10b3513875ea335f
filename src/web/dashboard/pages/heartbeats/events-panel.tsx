import { useId, useState } from 'preact/hooks';
import { ErrorState } from '../../parts/error-state.tsx';
import { counted } from '../../parts/formats.ts';
import { Pager } from '../../parts/pager.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { type MarkedState, StateMark } from '../../parts/states/state-mark.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { useRefresh } from '../locations/use-refresh.ts';
import { type HeartbeatEvent, REFRESH_MS, useEvents } from './queries.ts';

const MARKS: Readonly<
  Record<HeartbeatEvent['state'], { readonly state: MarkedState; readonly word: string }>
> = {
  EARLY: { state: 'passing', word: 'Early ping' },
  RECEIVED: { state: 'passing', word: 'Ping in time' },
  GRACE: { state: 'degraded', word: 'Ping in the grace' },
  LATE: { state: 'passing', word: 'Late ping: recovered' },
  FAILING: { state: 'failing', word: 'No ping: failed' },
};

const COLUMNS: readonly Column<HeartbeatEvent>[] = [
  { name: 'what', head: 'What', cell: ({ state }) => <StateMark {...MARKS[state]} /> },
  {
    name: 'at',
    head: 'When',
    cell: ({ timestamp }) => (
      <span>
        <TimeText at={timestamp} form="full" />{' '}
        <span class="muted">
          (<TimeText at={timestamp} />)
        </span>
      </span>
    ),
  },
  {
    name: 'source',
    head: 'From',
    cell: ({ source, pings }) => (
      <span>
        {source}
        {pings > 1 && <span class="muted">, {counted(pings, 'ping')}</span>}
      </span>
    ),
  },
  {
    name: 'agent',
    head: 'User agent',
    isOptional: true,
    cell: ({ userAgent }) => (userAgent === '' ? '–' : <span class="muted">{userAgent}</span>),
  },
];

/** The events of a heartbeat, newest first. */
export function EventsPanel({ checkId }: { readonly checkId: string }) {
  const id = useId();
  const [pages, setPages] = useState(1);
  const query = useEvents(checkId, pages);
  useRefresh(query, REFRESH_MS);
  const found = query.data.value;
  const error = query.error.value;
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>Pings and failures</h2>
      </div>
      {error !== null && <ErrorState error={error} retry={query.reload} />}
      {found === null && error === null && (
        <Skeleton lines={5} height={37} label="Loading the pings" />
      )}
      {found !== null && found.entries.length === 0 && (
        <p class="panel-body muted">No ping yet. Nothing is expected before the first one.</p>
      )}
      {found !== null && found.entries.length > 0 && (
        <Table
          label="Pings and failures"
          columns={COLUMNS}
          rows={found.entries}
          keyOf={({ id }) => id}
        />
      )}
      {found?.hasMore && (
        <Pager
          shown={found.entries.length}
          total={null}
          hasMore
          isLoading={query.isLoading.value}
          more={() => setPages(pages + 1)}
        />
      )}
    </section>
  );
}
