import { useEffect, useMemo } from 'preact/hooks';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { FilterBar, FilterMenu } from '../../parts/filter-bar.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Link } from '../../shell/link.tsx';
import { useUrlState } from '../../shell/url-state.ts';
import { BulkBar } from './bulk.tsx';
import { filterIn, groupByIn, STATES } from './check-filter.ts';
import { CheckLine } from './check-line.tsx';
import { FILTERS, GROUP_BY } from './filters.ts';
import { GroupsWithoutChecks, useGroupDialogs } from './groups.tsx';
import { useHeights } from './heights.ts';
import { CountsStrip, NoChecks, NothingFound, type RowLine } from './list-parts.tsx';
import { NobodyNotified } from './nobody-notified.tsx';
import { OverviewData } from './overview-data.ts';
import { SectionList } from './section-list.tsx';
import { useSelection } from './selection.ts';
import { SilentLocations } from './silent-locations.tsx';
import { UrgentList } from './urgent-list.tsx';
import './overview.css';

export function Page() {
  const state = useUrlState();
  const filter = filterIn(state);
  const by = groupByIn(state);
  const data = useMemo(() => new OverviewData(filter, by), [JSON.stringify(filter), by]);
  useEffect(() => data.start(), [data]);
  const selection = useSelection(data);
  const heights = useHeights();
  const groups = useGroupDialogs(() => void data.refresh());

  const counts = data.counts.value;
  const { listCounts } = data;
  const error = data.error.value;
  const total = counts === null ? 0 : STATES.reduce((sum, each) => sum + counts[each], 0);
  const isFiltered = Object.keys(filter).length > 0;
  const sections = data.sections.value;
  const isLoading = counts === null || (by !== null && sections === null);

  const line: RowLine = (rows, index, height) => {
    const row = rows.row(index);
    return (
      <CheckLine
        key={row?.checkId ?? `row ${index}`}
        row={row}
        height={height}
        isSelected={may('run') ? row !== null && selection.has(row.checkId) : null}
        onSelect={(id, isRange) => selection.toggle(id, { rows, index }, isRange)}
      />
    );
  };
  const list = { data, heights, line };
  return (
    <>
      <PageHeader
        title="Checks"
        actions={
          may('write') && (
            <>
              {by === 'group' && <Button onClick={groups.make}>New group</Button>}
              <Link class="button primary" to="/checks/new">
                New check
              </Link>
            </>
          )
        }
      >
        <CountsStrip counts={data.allCounts.value} />
        {total > 0 && may('write') && <NobodyNotified />}
      </PageHeader>
      <FilterBar search="Search checks" filters={FILTERS}>
        <FilterMenu {...GROUP_BY} />
      </FilterBar>
      {error !== null && <ErrorState error={error} retry={() => void data.refresh()} />}
      {isLoading && error === null && (
        <div class="panel">
          <Skeleton lines={8} height={heights.other} label="Loading checks" />
        </div>
      )}
      {counts !== null && total === 0 && (isFiltered ? <NothingFound /> : <NoChecks />)}
      {by === null && <SilentLocations locations={data.silent.value} />}
      {listCounts !== null && by === null && <UrgentList {...list} counts={listCounts} />}
      {by !== null && <SectionList {...list} by={by} editGroup={groups.edit} />}
      {by === 'group' && !isFiltered && sections !== null && sections.omitted === 0 && (
        <GroupsWithoutChecks sections={sections.sections} edit={groups.edit} />
      )}
      {groups.view}
      <BulkBar
        selection={selection}
        filter={filter}
        total={total}
        changed={() => void data.refresh()}
      />
    </>
  );
}
