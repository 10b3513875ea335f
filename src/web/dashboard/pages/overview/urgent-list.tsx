import { useRef } from 'preact/hooks';
import { count } from '../../parts/formats.ts';
import { VirtualList } from '../../parts/virtual-list.tsx';
import type { RowHeights } from './heights.ts';
import { ListHeads, type RowLine } from './list-parts.tsx';
import type { OverviewData, StateCounts } from './overview-data.ts';

/** The checks without grouping: first those that need attention, then the rest. */
export function UrgentList({
  data,
  counts,
  heights,
  line,
}: {
  readonly data: OverviewData;
  readonly counts: StateCounts;
  readonly heights: RowHeights;
  readonly line: RowLine;
}) {
  const ranges = useRef({ broken: { from: 0, to: 0 }, other: { from: 0, to: 0 } });
  const broken = counts.failing + counts.degraded + counts.unknown;
  const other = counts.passing + counts.paused;
  const onRange = (part: 'broken' | 'other', from: number, to: number): void => {
    const start = part === 'broken' ? 0 : broken;
    ranges.current[part] = { from: from + start, to: to + start };
    // The first rows stay loaded for scrolling back.
    const shown = Object.values(ranges.current).filter((range) => range.to > range.from);
    data.rows.show([{ from: 0, to: 1 }, ...shown]);
  };
  return (
    <>
      {broken > 0 && (
        <section class="panel" aria-labelledby="overview-broken">
          <div class="panel-head">
            <h2 id="overview-broken">
              Needs attention <span class="muted">{count(broken)}</span>
            </h2>
            <span class="muted">the latest change first</span>
          </div>
          <ListHeads />
          <VirtualList
            label="Checks that need attention"
            length={broken}
            rowHeight={heights.broken}
            onRange={(from, to) => onRange('broken', from, to)}
            row={(index) => line(data.rows, index, heights.broken)}
          />
        </section>
      )}
      {other > 0 && (
        <section class="panel" aria-labelledby="overview-other">
          <div class="panel-head">
            <h2 id="overview-other">
              {broken === 0 && data.silent.value.length === 0 ? 'All is well' : 'The rest'}{' '}
              <span class="muted">{count(other)}</span>
            </h2>
          </div>
          {broken === 0 && <ListHeads />}
          <VirtualList
            label="Checks that pass or are paused"
            length={other}
            rowHeight={heights.other}
            onRange={(from, to) => onRange('other', from, to)}
            row={(index) => line(data.rows, broken + index, heights.other)}
          />
        </section>
      )}
    </>
  );
}
