import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api, pageOf } from '../../../api/client.ts';
import { useQuery } from '../../../api/query.ts';
import { Button } from '../../../parts/button.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { ErrorState } from '../../../parts/error-state.tsx';
import { FilterBar } from '../../../parts/filter-bar.tsx';
import { counted } from '../../../parts/formats.ts';
import { PageHeader } from '../../../parts/page-header.tsx';
import { Pager } from '../../../parts/pager.tsx';
import { MonitoringProblems } from '../../../parts/problems/monitoring-problems.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import { StateMark } from '../../../parts/states/state-mark.tsx';
import { Table } from '../../../parts/table.tsx';
import { TimeText } from '../../../parts/time-text.tsx';
import { addressOf, Link } from '../../../shell/link.tsx';
import { type UrlState, useUrlState } from '../../../shell/url-state.ts';
import { Sections } from '../sections.tsx';
import { AcknowledgeButton, AcknowledgedBy } from './acknowledgement.tsx';
import { ALERT_KINDS, type Alert, wordsOf } from './alert-types.ts';
import { Recipients } from './recipients.tsx';

const DAY_S = 86_400;
const RANGES = [
  { value: '1', label: 'last 24 hours' },
  { value: '7', label: 'last 7 days' },
  { value: '30', label: 'last 30 days' },
] as const;
const STANDARD_RANGE = '7';
const PER_PAGE = 50;
/** The most alerts in the list; filters show older ones. */
const MAX_PAGES = 20;

/** The window is rounded to a minute, so that the list is not read again for every rendering. */
const MINUTE_S = 60;

export function Page() {
  const state = useUrlState();
  const checkId = state.get('checkId');
  const isOpenOnly = state.get('show') !== 'all';
  return (
    <>
      <PageHeader title="Alerts" />
      <Sections current="/alerts" />
      <MonitoringProblems />
      <FilterBar
        filters={[
          {
            name: 'show',
            label: 'Show',
            any: 'open',
            choices: [{ value: 'all', label: 'open and past' }],
          },
          { name: 'kind', label: 'Kind', choices: ALERT_KINDS },
          ...(isOpenOnly
            ? []
            : [{ name: 'days', label: 'Time', any: 'last 7 days', choices: RANGES }]),
        ]}
      >
        {checkId !== null && (
          <Button kind="plain" onClick={() => state.set({ checkId: null })}>
            Alerts of all checks
          </Button>
        )}
      </FilterBar>
      <AlertList key={state.query.toString()} state={state} />
      {checkId !== null && <Recipients checkId={checkId} />}
    </>
  );
}

function AlertList({ state }: { readonly state: UrlState }) {
  const { route } = useLocation();
  const [pages, setPages] = useState(1);
  const isOpenOnly = state.get('show') !== 'all';
  const checkId = state.get('checkId');
  const kind = ALERT_KINDS.find(({ value }) => value === state.get('kind'));
  const days = Number(state.get('days') ?? STANDARD_RANGE) || Number(STANDARD_RANGE);
  const { data, error, isLoading, reload } = useQuery(
    `alerts?${state.query} ${pages}`,
    (signal) => readAlerts({ isOpenOnly, checkId, types: kind?.types, days, pages }, signal),
    { on: ['alert', 'check'] },
  );
  const found = data.value;
  if (found === null) {
    if (error.value !== null) return <ErrorState error={error.value} retry={reload} />;
    return <Skeleton lines={8} height={40} label="Loading alerts" />;
  }
  const isFiltered = kind !== undefined || checkId !== null;
  if (found.alerts.length === 0) {
    return (
      <>
        {error.value !== null && <ErrorState error={error.value} retry={reload} />}
        <NoAlerts isOpenOnly={isOpenOnly} isFiltered={isFiltered} />
      </>
    );
  }
  return (
    <section class="panel" aria-label="Alerts">
      {error.value !== null && <ErrorState error={error.value} retry={reload} />}
      <Table<Alert>
        label={isOpenOnly ? 'Open alerts' : 'Alerts'}
        rows={found.alerts}
        keyOf={({ id }) => id}
        onOpen={({ id }) => route(addressOf(`/alerts/${id}`))}
        columns={columnsOf(() => void reload())}
      />
      <Pager
        shown={found.alerts.length}
        total={found.total}
        isAtLeast={found.isAtLeast}
        hasMore={found.total !== null && found.alerts.length < found.total && pages < MAX_PAGES}
        isLoading={isLoading.value}
        more={() => setPages(pages + 1)}
      />
    </section>
  );
}

const columnsOf = (reload: () => void) => [
  {
    name: 'state',
    head: 'Alert',
    cell: (alert: Alert) => {
      const { state, word } = wordsOf(alert);
      return <StateMark state={state} word={word} />;
    },
  },
  {
    name: 'check',
    head: 'Check',
    cell: ({ id, name, error }: Alert) => (
      <div class="alerting-alert-what">
        <Link to={`/alerts/${id}`} title={name}>
          {name}
        </Link>
        {error !== null && (
          <p class="muted alerting-two-lines" title={error}>
            {error}
          </p>
        )}
      </div>
    ),
  },
  {
    name: 'location',
    head: 'Location',
    isOptional: true,
    cell: ({ runLocation }: Alert) => <span class="nowrap">{runLocation}</span>,
  },
  {
    name: 'notified',
    head: 'Notified',
    cell: ({ deliveries }: Alert) => <NotifiedText deliveries={deliveries} />,
  },
  {
    name: 'taken',
    head: 'Acknowledged by',
    cell: (alert: Alert) =>
      alert.acknowledgement === null && alert.isOpen ? (
        <AcknowledgeButton alert={alert} class="small" onChanged={reload} />
      ) : (
        <AcknowledgedBy alert={alert} />
      ),
  },
  {
    name: 'at',
    head: 'When',
    isNumber: true,
    cell: ({ alertedAt }: Alert) => <TimeText at={alertedAt} />,
  },
];

/** The number of sent notifications, and the state of the others. */
export function NotifiedText({ deliveries }: Pick<Alert, 'deliveries'>) {
  const { sent, pending, failed } = deliveries;
  if (sent + pending + failed === 0) return <span class="muted nowrap">nobody</span>;
  return (
    <span class="alerting-notified">
      {sent > 0 && <span class="nowrap">{counted(sent, 'notification')}</span>}
      {pending > 0 && <span class="nowrap muted">{pending} pending</span>}
      {failed > 0 && <span class="nowrap failing">{failed} not delivered</span>}
    </span>
  );
}

function NoAlerts({
  isOpenOnly,
  isFiltered,
}: {
  readonly isOpenOnly: boolean;
  readonly isFiltered: boolean;
}) {
  if (isFiltered) {
    return <EmptyState title="No alert matches">Try other filters or a longer period.</EmptyState>;
  }
  if (!isOpenOnly) {
    return (
      <EmptyState title="No alerts in this period">
        Alerts appear here when a check fails, is degraded or recovers, and when a certificate
        expires soon.
      </EmptyState>
    );
  }
  return (
    <EmptyState title="No open alerts">
      <p>
        No check with an alert is still failing or degraded.{' '}
        <Link to="/alerts?show=all">See past alerts</Link>, or{' '}
        <Link to="/channels">see who is notified next time</Link>.
      </p>
    </EmptyState>
  );
}

interface Asked {
  readonly isOpenOnly: boolean;
  readonly checkId: string | null;
  readonly types: readonly Alert['alertType'][] | undefined;
  readonly days: number;
  readonly pages: number;
}

async function readAlerts(
  { isOpenOnly, checkId, types, days, pages }: Asked,
  signal: AbortSignal,
): Promise<{
  readonly alerts: readonly Alert[];
  readonly total: number | null;
  readonly isAtLeast: boolean;
}> {
  const to = Math.ceil(Date.now() / 1_000 / MINUTE_S + 1) * MINUTE_S;
  const query = {
    ...(isOpenOnly ? { open: true } : { from: to - days * DAY_S, to }),
    ...(checkId === null ? {} : { checkId }),
    ...(types === undefined ? {} : { alertType: [...types] }),
    limit: PER_PAGE,
  };
  const found = new Map<string, Alert>();
  let total: number | null = null;
  let isAtLeast = false;
  for (let page = 1; page <= pages; page += 1) {
    const read = await pageOf(
      api.GET('/v1/check-alerts', { params: { query: { ...query, page } }, signal }),
    );
    ({ total, isAtLeast } = read);
    // New alerts move the pages: an entry may come twice.
    for (const alert of read.entries) found.set(alert.id, alert);
    if (read.entries.length < PER_PAGE) break;
  }
  return { alerts: [...found.values()], total, isAtLeast };
}
