import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { count, counted } from '../../parts/formats.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Pager } from '../../parts/pager.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { AcknowledgedMark, QuietMarks } from '../../parts/states/quiet-marks.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { addressOf, Link } from '../../shell/link.tsx';
import { useUrlState } from '../../shell/url-state.ts';
import { useRefresh } from '../locations/use-refresh.ts';
import { NewHeartbeat } from './heartbeat-form.tsx';
import { HeartbeatMark, NextText, rhythmText } from './heartbeat-state.tsx';
import './heartbeats.css';
import {
  type HeartbeatFilter,
  type HeartbeatStatus,
  REFRESH_MS,
  useCounts,
  useStatuses,
} from './queries.ts';

const STATES = [
  { value: 'failing', label: 'Late' },
  { value: 'passing', label: 'In time' },
  { value: 'unknown', label: 'No ping yet' },
  { value: 'paused', label: 'Paused' },
] as const;

const pathOf = ({ checkId }: HeartbeatStatus): string =>
  `/heartbeats/${encodeURIComponent(checkId)}`;

const COLUMNS: readonly Column<HeartbeatStatus>[] = [
  {
    name: 'state',
    head: 'State',
    cell: (status) => (
      <span class="heartbeats-state">
        <HeartbeatMark status={status} />
        {status.since !== null && status.state !== 'unknown' && (
          <span class="muted nowrap">
            for <TimeText at={status.since} form="since" />
          </span>
        )}
      </span>
    ),
  },
  {
    name: 'name',
    head: 'Heartbeat',
    cell: (status) => (
      <span class="heartbeats-name">
        <Link to={pathOf(status)} title={status.name}>
          {status.name}
        </Link>
        <QuietMarks {...status} />
        <AcknowledgedMark taken={status.acknowledgement} />
        {status.tags.map((tag) => (
          <span class="chip" key={tag}>
            {tag}
          </span>
        ))}
      </span>
    ),
  },
  {
    name: 'last',
    head: 'Last ping',
    cell: ({ heartbeat }) =>
      heartbeat === null || heartbeat.lastPingAt === null ? (
        <span class="muted">none</span>
      ) : (
        <span class="nowrap">
          <TimeText at={heartbeat.lastPingAt} />
        </span>
      ),
  },
  {
    name: 'rhythm',
    head: 'Expected',
    cell: ({ heartbeat }) =>
      heartbeat === null ? '–' : <span class="nowrap">{rhythmText(heartbeat)}</span>,
  },
  { name: 'next', head: 'Next', cell: (status) => <NextText status={status} /> },
];

/** Jobs that report their runs by pings: late jobs are on top. */
export function Page() {
  const { route } = useLocation();
  const state = useUrlState();
  const [isMaking, setMaking] = useState(false);
  const filter = filterOf(state.get('search'), state.get('state'));
  const { query, more } = useStatuses(filter);
  const counts = useCounts();
  useRefresh(query, REFRESH_MS);
  const found = query.data.value;
  const error = query.error.value;
  const known = counts.data.value;
  const all = known === null ? null : Object.values(known).reduce((sum, each) => sum + each, 0);
  const isFiltered = Object.keys(filter).length > 0;
  const isEmpty = found !== null && found.entries.length === 0;
  const hasNone = isEmpty && !isFiltered;
  return (
    <>
      <PageHeader
        title="Heartbeats"
        actions={
          may('write') &&
          !hasNone && (
            <Button kind="primary" onClick={() => setMaking(true)}>
              New heartbeat
            </Button>
          )
        }
      >
        {all !== null && all > 0 && (
          <span class="muted">
            {counted(all, 'heartbeat')}
            {known !== null && known.failing > 0 && (
              <>
                , <strong class="failing">{count(known.failing)} late</strong>
              </>
            )}
          </span>
        )}
      </PageHeader>
      {!hasNone && (
        <FilterBar
          search="Search heartbeats"
          filters={[{ name: 'state', label: 'State', choices: STATES }]}
        />
      )}
      {error !== null && <ErrorState error={error} retry={query.reload} />}
      {found === null && error === null && (
        <div class="panel">
          <Skeleton lines={6} height={37} label="Loading the heartbeats" />
        </div>
      )}
      {hasNone && <NoHeartbeats onMake={() => setMaking(true)} />}
      {isEmpty && isFiltered && (
        <EmptyState title="No heartbeat matches">
          Choose other filters or another search.
        </EmptyState>
      )}
      {found !== null && !isEmpty && (
        <section class="panel" aria-label="All heartbeats">
          <Table
            label="Heartbeats"
            columns={COLUMNS}
            rows={found.entries}
            keyOf={({ checkId }) => checkId}
            onOpen={(status) => route(addressOf(pathOf(status)))}
          />
          {found.total !== null && found.total > found.entries.length && (
            <Pager
              shown={found.entries.length}
              total={found.total}
              isAtLeast={found.isAtLeast}
              hasMore
              isLoading={query.isLoading.value}
              more={more}
            />
          )}
        </section>
      )}
      {isMaking && <NewHeartbeat onClose={() => setMaking(false)} />}
    </>
  );
}

function filterOf(search: string | null, state: string | null): HeartbeatFilter {
  const known = STATES.find(({ value }) => value === state);
  return {
    ...(search === null ? {} : { search }),
    ...(known === undefined ? {} : { state: [known.value] }),
  };
}

function NoHeartbeats({ onMake }: { readonly onMake: () => void }) {
  return (
    <div class="panel">
      <EmptyState title="There is no heartbeat yet">
        <p>
          A heartbeat is for a job that nobody calls: a backup, an import, a report. The job
          requests a URL each time it has run, and you are alerted when it does not.
        </p>
        {may('write') ? (
          <p class="heartbeats-first">
            <Button kind="primary" onClick={onMake}>
              New heartbeat
            </Button>
          </p>
        ) : (
          <p>Somebody with the role write can create one.</p>
        )}
      </EmptyState>
    </div>
  );
}
