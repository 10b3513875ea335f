import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { api, pageOf } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { type Filter, FilterBar } from '../../parts/filter-bar.tsx';
import { count, counted, percent, responseTime } from '../../parts/formats.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Pager } from '../../parts/pager.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Link } from '../../shell/link.tsx';
import { type UrlState, useUrlState } from '../../shell/url-state.ts';
import { PHASE_LABELS } from '../check/model.ts';
import { filterIn, TYPE_LABELS } from '../overview/check-filter.ts';
import { FILTERS } from '../overview/filters.ts';
import './reports.css';
import {
  isReported,
  MAX_CHECKS,
  REPORTED_TYPES,
  type ReadPart,
  ReportData,
  type ReportFilter,
} from './report-data.ts';
import { fileName, progressText, type ReportProgress, waitText } from './report-progress.ts';
import { csvOf, PHASES, type ReportRow, SORTS, type Sort, sortedRows } from './report-rows.ts';
import { DEFAULT_RANGE, RANGE_LABELS, type ReportWindow, windowIn } from './report-window.ts';

const PART = 100;
/** The delay after a change of the filter or the range: another may follow, and each counts for the rate limit. */
const SETTLE_MS = 1_000;

const readSummaries: ReadPart = (query, signal) =>
  pageOf(api.GET('/v1/analytics/summaries', { params: { query }, signal }));

const SORT_LABELS: Readonly<Record<(typeof SORTS)[number], string>> = {
  availability: 'lowest availability',
  avg: 'slowest on average',
  max: 'longest run',
};

const REPORT_FILTERS: readonly Filter[] = [
  {
    name: 'type',
    label: 'Type',
    choices: REPORTED_TYPES.map((value) => ({ value, label: TYPE_LABELS[value] ?? value })),
  },
  ...FILTERS.filter(({ name }) => name === 'tag' || name === 'group'),
  {
    name: 'sort',
    label: 'Sort',
    any: 'name',
    choices: SORTS.map((value) => ({ value, label: SORT_LABELS[value] })),
  },
];

/** Without a choice the default, unless days are chosen. */
function rangeFilter(hasDays: boolean): Filter {
  const choices = Object.entries(RANGE_LABELS).map(([value, label]) => ({ value, label }));
  return {
    name: 'range',
    label: 'Range',
    any: hasDays ? 'chosen days' : RANGE_LABELS[DEFAULT_RANGE],
    choices: hasDays ? choices : choices.filter(({ value }) => value !== DEFAULT_RANGE),
    resets: ['from', 'to'],
  };
}

/** Only what the filters of this page offer. Heartbeats have no runs. */
function filterOf(state: UrlState): ReportFilter {
  const { type = [], tag, groupId, search } = filterIn(state);
  const types = type.filter(isReported);
  return {
    ...(types.length === 0 ? {} : { type: types }),
    ...(tag === undefined ? {} : { tag: [...tag] }),
    ...(groupId === undefined ? {} : { groupId }),
    ...(search === undefined ? {} : { search }),
  };
}

/** Availability and response times of all checks in a range of days. */
export function Page() {
  const state = useUrlState();
  const window = windowIn(state);
  return (
    <>
      {window === null ? (
        <>
          <PageHeader title="Reports" />
          <Filters state={state} />
          <div class="panel">
            <EmptyState title="The range ends before it begins">
              <p>Choose a last day that is not before the first one.</p>
            </EmptyState>
          </div>
        </>
      ) : (
        <Reports state={state} window={window} />
      )}
    </>
  );
}

function Reports({ state, window }: { readonly state: UrlState; readonly window: ReportWindow }) {
  const filter = filterOf(state);
  const [attempt, setAttempt] = useState(0);
  const data = useMemo(
    () => new ReportData(readSummaries, filter, window),
    [JSON.stringify([filter, window])],
  );
  const lastData = useRef(data);
  useEffect(() => {
    const isChanged = lastData.current !== data;
    lastData.current = data;
    return data.start(isChanged ? SETTLE_MS : 0);
  }, [data, attempt]);
  const rows = data.rows.value;
  const error = data.error.value;
  const waitsMs = data.waitsMs.value;
  const read = rows?.length ?? 0;
  const progress: ReportProgress = {
    read,
    total: data.total.value ?? read,
    isAtLeast: data.isAtLeast.value,
    isReading: data.isReading.value,
  };
  const sort = SORTS.find((each) => each === state.get('sort')) ?? 'name';
  const isUnknownSort = sort === 'name' && state.get('sort') !== null;
  useEffect(() => {
    // The menu would show an order that the rows do not have.
    if (isUnknownSort) state.set({ sort: null });
  }, [isUnknownSort]);
  const sorted = useMemo(() => sortedRows(rows ?? [], sort), [rows, sort]);
  return (
    <>
      <PageHeader
        title="Reports"
        actions={
          <Button
            disabled={sorted.length === 0 || progress.isReading}
            onClick={() => download(csvOf(sorted), progress)}
          >
            Download CSV
          </Button>
        }
      />
      <Filters state={state} />
      {error !== null && <ErrorState error={error} retry={() => setAttempt(attempt + 1)} />}
      {waitsMs !== null && (
        <p class="reports-progress" role="status">
          {waitText(waitsMs)}
        </p>
      )}
      {rows === null && error === null && (
        <div class="panel">
          <Skeleton lines={8} height={37} label="Loading the checks" />
        </div>
      )}
      {rows !== null && rows.length === 0 && <NoChecks />}
      {rows !== null && rows.length > 0 && (
        <>
          <Progress progress={progress} />
          <List rows={sorted} sort={sort} />
        </>
      )}
    </>
  );
}

function Filters({ state }: { readonly state: UrlState }) {
  const day = (name: 'from' | 'to', label: string) => (
    <label>
      {label}
      <input
        type="date"
        value={state.get(name) ?? ''}
        onChange={(event) => state.set({ [name]: event.currentTarget.value || null, range: null })}
      />
    </label>
  );
  const filters = [rangeFilter(state.get('from') !== null), ...REPORT_FILTERS];
  return (
    <FilterBar filters={filters} search="Search by name">
      <span class="reports-days">
        {day('from', 'First day (UTC)')}
        {day('to', 'Last day')}
      </span>
    </FilterBar>
  );
}

function NoChecks() {
  return (
    <div class="panel">
      <EmptyState title="No check to report on">
        <p>
          No URL, API, TCP, DNS or ICMP check matches the filters. The availability of heartbeats is
          on their own pages.
        </p>
        <p>
          <Link to="/checks/new">Create a check</Link>
        </p>
      </EmptyState>
    </div>
  );
}

function Progress({ progress }: { readonly progress: ReportProgress }) {
  const { read, total, isReading } = progress;
  return (
    <p class="reports-progress muted">
      {isReading && (
        <progress
          max={Math.min(total, MAX_CHECKS)}
          value={read}
          aria-label="Reports that are read"
        />
      )}
      {progressText(progress)}
    </p>
  );
}

function List({ rows, sort }: { readonly rows: readonly ReportRow[]; readonly sort: Sort }) {
  const [shown, setShown] = useState(PART);
  return (
    <section class="panel" aria-label="Reports of checks">
      <Table
        label="Reports of checks"
        columns={columnsOf(sort)}
        rows={rows.slice(0, shown)}
        keyOf={({ id }) => id}
      />
      {rows.length > shown && (
        <Pager
          shown={shown}
          total={rows.length}
          hasMore
          isLoading={false}
          more={() => setShown(shown + PART)}
        />
      )}
    </section>
  );
}

function columnsOf(sort: Sort): readonly Column<ReportRow>[] {
  const time = (name: 'avg' | 'max', head: string): Column<ReportRow> => ({
    name,
    head,
    isNumber: true,
    ...(sort === name ? { sort: 'descending' as const } : {}),
    cell: (row) => responseTime(row[`${name}Ms`]),
  });
  return [
    {
      name: 'name',
      head: 'Check',
      ...(sort === 'name' ? { sort: 'ascending' as const } : {}),
      cell: ({ id, name }) => <Link to={`/checks/${encodeURIComponent(id)}`}>{name}</Link>,
    },
    { name: 'type', head: 'Type', isOptional: true, cell: ({ type }) => TYPE_LABELS[type] ?? type },
    {
      name: 'availability',
      head: 'Availability',
      isNumber: true,
      ...(sort === 'availability' ? { sort: 'ascending' as const } : {}),
      cell: (row) => <Availability row={row} />,
    },
    time('avg', 'Response average'),
    time('max', 'Longest'),
    {
      name: 'phases',
      head: 'Phases, average',
      isOptional: true,
      cell: ({ phases }) => <span class="muted reports-phases">{phasesText(phases)}</span>,
    },
  ];
}

/** `DNS 1.5 ms, TCP 2.3 ms`; empty for types without phases. */
function phasesText(phases: ReportRow['phases']): string {
  return PHASES.flatMap((name) => {
    const ms = phases[name];
    return ms == null ? [] : `${PHASE_LABELS[name] ?? name} ${responseTime(ms)}`;
  }).join(', ');
}

function Availability({ row }: { readonly row: ReportRow }) {
  const { runs, failures } = row;
  if (runs === 0) return <span class="muted">no runs</span>;
  return (
    <span title={`${counted(runs, 'run')}, ${count(failures)} failed`}>
      {percent(runs - failures, runs)}
    </span>
  );
}

function download(csv: string, progress: ReportProgress): void {
  const address = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = fileName(new Date().toISOString().slice(0, 10), progress);
  link.click();
  // By then the browser has started to read the URL.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
