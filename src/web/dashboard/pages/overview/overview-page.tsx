import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { api, bodyOf } from '../../api/client.ts';
import { useQuery } from '../../api/query.ts';
import { may } from '../../api/session.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { FilterBar, type FilterChoice } from '../../parts/filter-bar.tsx';
import { count } from '../../parts/formats.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { VirtualList } from '../../parts/virtual-list.tsx';
import { basePath } from '../../shell/base-path.ts';
import { Link } from '../../shell/link.tsx';
import { useUrlState } from '../../shell/url-state.ts';
import { BulkBar } from './bulk.tsx';
import { filterIn, STATE_LABELS, TYPE_LABELS } from './check-filter.ts';
import { CheckLine } from './check-line.tsx';
import { type CheckState, OverviewData, type StateCounts } from './overview-data.ts';
import './overview.css';

/** As overview.css has them. */
const HEIGHTS = { wide: { broken: 76, other: 40 }, narrow: { broken: 136, other: 92 } } as const;
const NARROW = '(max-width: 899px)';
/** As many as a bulk request may have. */
const MAX_SELECTED = 1_000;

const COUNTED: readonly { readonly state: CheckState; readonly word: string }[] = [
  { state: 'failing', word: 'failing' },
  { state: 'degraded', word: 'degraded' },
  { state: 'unknown', word: 'unknown' },
  { state: 'paused', word: 'paused' },
  { state: 'passing', word: 'passing' },
];

export function Page() {
  const state = useUrlState();
  const filter = filterIn(state);
  const filterKey = JSON.stringify(filter);
  const data = useMemo(() => new OverviewData(filter), [filterKey]);
  useEffect(() => data.start(), [data]);
  const selection = useSelection(data);
  const height = useHeights();
  const ranges = useRef({ broken: { from: 0, to: 0 }, other: { from: 0, to: 0 } });

  const { state: _, ...ofAllStates } = filter;
  const all = useQuery(
    `check-state-counts ${JSON.stringify(ofAllStates)}`,
    (signal) =>
      bodyOf(api.GET('/v1/check-state-counts', { params: { query: ofAllStates }, signal })),
    { on: ['check', 'group', 'location'] },
  );
  const counts = data.counts.value;
  const error = data.error.value;
  const broken = counts === null ? 0 : counts.failing + counts.degraded + counts.unknown;
  const other = counts === null ? 0 : counts.passing + counts.paused;
  const isFiltered = Object.keys(filter).length > 0;

  const onRange = (part: 'broken' | 'other', from: number, to: number): void => {
    const start = part === 'broken' ? 0 : broken;
    ranges.current[part] = { from: from + start, to: to + start };
    data.show(Object.values(ranges.current).filter((range) => range.to > range.from));
  };
  const line = (index: number, rowHeight: number) => {
    const row = data.row(index);
    return (
      <CheckLine
        key={row?.checkId ?? `row ${index}`}
        row={row}
        height={rowHeight}
        isSelected={may('run') ? row !== null && selection.has(row.checkId) : null}
        onSelect={(id, isRange) => selection.toggle(id, index, isRange)}
      />
    );
  };
  return (
    <>
      <PageHeader title="Checks">
        <Counts counts={all.data.value ?? counts} />
      </PageHeader>
      <FilterBar search="Search checks" filters={useFilters(data)} />
      {error !== null && <ErrorState error={error} retry={() => void data.refresh()} />}
      {counts === null && error === null && (
        <div class="panel">
          <Skeleton lines={8} height={height.other} label="Loading checks" />
        </div>
      )}
      {counts !== null && broken + other === 0 && (isFiltered ? <NothingFound /> : <NoChecks />)}
      {broken > 0 && (
        <section class="panel" aria-labelledby="overview-broken">
          <div class="panel-head">
            <h2 id="overview-broken">
              Needs a look <span class="muted">{count(broken)}</span>
            </h2>
            <span class="muted">the latest change first</span>
          </div>
          <Heads />
          <VirtualList
            label="Checks that need a look"
            length={broken}
            rowHeight={height.broken}
            onRange={(from, to) => onRange('broken', from, to)}
            row={(index) => line(index, height.broken)}
          />
        </section>
      )}
      {other > 0 && (
        <section class="panel" aria-labelledby="overview-other">
          <div class="panel-head">
            <h2 id="overview-other">
              {broken === 0 ? 'All is well' : 'The rest'} <span class="muted">{count(other)}</span>
            </h2>
          </div>
          {broken === 0 && <Heads />}
          <VirtualList
            label="Checks that pass or are paused"
            length={other}
            rowHeight={height.other}
            onRange={(from, to) => onRange('other', from, to)}
            row={(index) => line(broken + index, height.other)}
          />
        </section>
      )}
      <BulkBar
        ids={selection.ids}
        nameOf={selection.nameOf}
        clear={selection.clear}
        changed={() => void data.refresh()}
      />
    </>
  );
}

/** Links to the checks of each state; the one that is chosen leads back to all. */
function Counts({ counts }: { readonly counts: StateCounts | null }) {
  const { query } = useUrlState();
  const chosen = query.getAll('state');
  const linkTo = (state: CheckState): string => {
    const next = new URLSearchParams(query);
    next.delete('state');
    next.delete('account');
    if (!chosen.includes(state)) next.append('state', state);
    return `/?${next}`.replace(/\?$/, '');
  };
  return (
    <ul class="overview-counts" aria-label="Checks by state">
      {COUNTED.map(({ state, word }) => {
        const number = counts?.[state] ?? null;
        return (
          <li key={state}>
            <Link
              to={linkTo(state)}
              class={number === null || number === 0 ? 'zero' : state}
              aria-current={chosen.includes(state) ? 'page' : undefined}
            >
              <b>{number === null ? '–' : count(number)}</b> {word}
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

function Heads() {
  return (
    <div class="overview-heads" aria-hidden="true">
      <span class="overview-select" />
      <span>State</span>
      <span>Check</span>
      <span>Since</span>
      <span>Seen from</span>
      <span>Last 24 h</span>
      <span class="num">Now</span>
      <span class="num">Usual</span>
    </div>
  );
}

function NoChecks() {
  const origin = `${location.origin}${basePath}`;
  return (
    <div class="panel">
      <EmptyState
        title="There are no checks yet"
        command={`export SERVICE_URL=${origin} API_KEY=vk_…\nvedette apply vedette.yaml`}
      >
        <p>
          Describe them in a file and apply it with a key of the role write. The{' '}
          <a href={`${basePath}/docs`}>handbook</a> has an example for each type. They appear here
          by themselves.
        </p>
      </EmptyState>
    </div>
  );
}

function NothingFound() {
  return (
    <div class="panel">
      <EmptyState title="No check matches these filters">
        <Link to="/">Show all checks</Link>
      </EmptyState>
    </div>
  );
}

function useFilters(data: OverviewData) {
  const locations = useQuery(
    'locations for filters',
    (signal) =>
      bodyOf(api.GET('/v1/private-locations', { params: { query: { limit: 100 } }, signal })),
    { on: ['location'] },
  ).data.value;
  const groups = useQuery(
    'groups for filters',
    (signal) => bodyOf(api.GET('/v1/check-groups', { params: { query: { limit: 100 } }, signal })),
    { on: ['group'] },
  ).data.value;
  const tags = new Set<string>();
  for (const row of data.rows()) for (const tag of row.tags) tags.add(tag);
  const choice = ([value, label]: readonly [string, string]): FilterChoice => ({ value, label });
  return [
    { name: 'state', label: 'State', choices: Object.entries(STATE_LABELS).map(choice) },
    { name: 'type', label: 'Type', choices: Object.entries(TYPE_LABELS).map(choice) },
    {
      name: 'tag',
      label: 'Tag',
      choices: [...tags]
        .sort((one, next) => one.localeCompare(next))
        .map((tag) => choice([tag, tag])),
    },
    {
      name: 'group',
      label: 'Group',
      choices: (groups ?? []).map(({ id, name }) => choice([String(id), name])),
    },
    {
      name: 'location',
      label: 'Location',
      choices: (locations ?? []).map(({ slug, name }) => choice([slug, name])),
    },
  ];
}

/** The selected checks. Shift selects from the last one on. */
function useSelection(data: OverviewData) {
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const last = useRef(0);
  useEffect(() => setNames(new Map()), [data]);
  return {
    ids: [...names.keys()],
    has: (id: string) => names.has(id),
    nameOf: (id: string) => names.get(id) ?? id,
    clear: () => setNames(new Map()),
    toggle(id: string, index: number, isRange: boolean): void {
      const next = new Map(names);
      if (isRange && last.current !== index) {
        const [from, to] = [Math.min(last.current, index), Math.max(last.current, index)];
        for (let at = from; at <= to && next.size < MAX_SELECTED; at += 1) {
          const row = data.row(at);
          if (row !== null) next.set(row.checkId, row.name);
        }
      } else if (!next.delete(id) && next.size < MAX_SELECTED) {
        next.set(id, data.row(index)?.name ?? id);
      }
      last.current = index;
      setNames(next);
    },
  };
}

function useHeights(): { readonly broken: number; readonly other: number } {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const media = matchMedia(NARROW);
    const onChange = (): void => setNarrow(media.matches);
    media.addEventListener('change', onChange);
    return () => media.removeEventListener('change', onChange);
  }, []);
  return isNarrow ? HEIGHTS.narrow : HEIGHTS.wide;
}
