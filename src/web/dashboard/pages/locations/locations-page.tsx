import { useState } from 'preact/hooks';
import { useLocation as useRouter } from 'preact-iso';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { count, counted, duration, responseTime } from '../../parts/formats.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Pager } from '../../parts/pager.tsx';
import { MonitoringProblems } from '../../parts/problems/monitoring-problems.tsx';
import { LOCATION_PROBLEMS } from '../../parts/problems/problem-words.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { addressOf, Link } from '../../shell/link.tsx';
import {
  clockText,
  isClockOff,
  isLate,
  isWaitingLong,
  LocationMark,
  Warned,
} from './location-mark.tsx';
import './locations.css';
import { NewLocation } from './edit-location.tsx';
import { type LocationStatus, REPORT_MS, useLocationStatuses } from './queries.ts';
import { useRefresh } from './use-refresh.ts';

/** Locations that need attention come first. */
const ORDER = ['silent', 'online', 'new', 'idle'] as const;

const COLUMNS: readonly Column<LocationStatus>[] = [
  {
    name: 'location',
    head: 'Location',
    cell: ({ id, name, slug }) => (
      <span class="locations-name">
        <Link to={`/locations/${id}`} title={name}>
          {name}
        </Link>
        <span class="muted mono ellipsis" title={slug}>
          {slug}
        </span>
      </span>
    ),
  },
  {
    name: 'state',
    head: 'State',
    cell: ({ state, lastSeen }) => (
      <span class="locations-state">
        <LocationMark state={state} />
        {state !== 'online' && lastSeen !== null && (
          <span class="muted nowrap">
            for <TimeText at={lastSeen} form="since" />
          </span>
        )}
      </span>
    ),
  },
  {
    name: 'agents',
    head: 'Agents',
    cell: ({ agents, versions }) =>
      agents.live === 0 ? (
        <span class="muted">none</span>
      ) : (
        <span>
          {count(agents.live)} <span class="muted">version </span>
          <Warned isBad={versions.length > 1}>{versions.join(', ')}</Warned>
        </span>
      ),
  },
  {
    name: 'checks',
    head: 'Checks',
    isNumber: true,
    cell: ({ checks, unassignedChecks }) => (
      <span>
        {count(checks)}
        {unassignedChecks > 0 && (
          <>
            {' '}
            <Warned isBad>{`${count(unassignedChecks)} not running`}</Warned>
          </>
        )}
      </span>
    ),
  },
  {
    name: 'missed',
    head: 'Missed, 24 h',
    isNumber: true,
    cell: ({ missedSlots }) => <Warned isBad={missedSlots > 0}>{count(missedSlots)}</Warned>,
  },
  {
    name: 'lateness',
    head: 'Latest start',
    isNumber: true,
    isOptional: true,
    cell: ({ maxLatenessMs }) => (
      <Warned isBad={isLate(maxLatenessMs)}>{responseTime(maxLatenessMs)}</Warned>
    ),
  },
  {
    name: 'spool',
    head: 'Waiting results',
    isNumber: true,
    isOptional: true,
    cell: ({ spoolRecords, spoolOldestMs }) =>
      spoolRecords === null ? (
        '–'
      ) : (
        <Warned isBad={isWaitingLong(spoolOldestMs)}>
          {`${count(spoolRecords)}${isWaitingLong(spoolOldestMs) ? `, ${duration(spoolOldestMs ?? 0)}` : ''}`}
        </Warned>
      ),
  },
  {
    name: 'clock',
    head: 'Clock',
    isNumber: true,
    isOptional: true,
    cell: ({ clockAheadMs }) => (
      <Warned isBad={isClockOff(clockAheadMs)}>{clockText(clockAheadMs)}</Warned>
    ),
  },
];

/** All private locations of the account, and the state of their agents. */
export function Page() {
  const [pages, setPages] = useState(1);
  const [isMaking, setMaking] = useState(false);
  const query = useLocationStatuses(pages);
  const { route } = useRouter();
  useRefresh(query, REPORT_MS);
  const data = query.data.value;
  const error = query.error.value;
  const rows = [...(data?.entries ?? [])].sort(
    (one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state),
  );
  const online = rows.filter(({ state }) => state === 'online').length;
  const silent = rows.filter(({ state }) => state === 'silent').length;
  return (
    <>
      <PageHeader
        title="Locations"
        actions={
          may('write') &&
          rows.length > 0 && (
            <Button kind="primary" onClick={() => setMaking(true)}>
              New location
            </Button>
          )
        }
      >
        {data !== null && data.total > 0 && (
          <span class="muted">
            {counted(data.total, 'location')}, {count(online)} online
            {silent > 0 && (
              <>
                , <strong class="failing">{count(silent)} silent</strong>
              </>
            )}
          </span>
        )}
      </PageHeader>
      {error !== null && <ErrorState error={error} retry={query.reload} />}
      <MonitoringProblems filter={{ kind: LOCATION_PROBLEMS }} />
      {data === null && error === null && (
        <div class="panel">
          <Skeleton lines={6} height={37} label="Loading the locations" />
        </div>
      )}
      {data !== null && rows.length === 0 && (
        <div class="panel">
          <EmptyState title="There is no location yet">
            <p>
              A location is a network in which agents run your checks: an office, a data centre, a
              cluster. Create one, then start its first agent with the line that the page shows.
            </p>
            {may('write') ? (
              <p class="locations-first">
                <Button kind="primary" onClick={() => setMaking(true)}>
                  New location
                </Button>
              </p>
            ) : (
              <p>Somebody with the role write can create one.</p>
            )}
          </EmptyState>
        </div>
      )}
      {rows.length > 0 && (
        <div class="panel">
          <Table
            label="Locations"
            columns={COLUMNS}
            rows={rows}
            keyOf={({ id }) => id}
            onOpen={({ id }) => route(addressOf(`/locations/${id}`))}
          />
          {data !== null && data.total > data.entries.length && (
            <Pager
              shown={rows.length}
              total={data.total}
              hasMore
              isLoading={query.isLoading.value}
              more={() => setPages(pages + 1)}
            />
          )}
        </div>
      )}
      {isMaking && <NewLocation onClose={() => setMaking(false)} />}
    </>
  );
}
