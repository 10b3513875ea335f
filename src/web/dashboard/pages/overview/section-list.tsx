import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { count, counted } from '../../parts/formats.ts';
import { CaretIcon } from '../../parts/icons.tsx';
import { StateMark } from '../../parts/states/state-mark.tsx';
import { type BlockRange, type RowBlock, VirtualBlocks } from '../../parts/virtual-list.tsx';
import { useUrlState } from '../../shell/url-state.ts';
import { type GroupBy, STATES } from './check-filter.ts';
import type { CheckRows, RowRange } from './check-rows.ts';
import type { RowHeights } from './heights.ts';
import type { RowLine } from './list-parts.tsx';
import { ListHeads } from './list-parts.tsx';
import { MAX_SECTIONS, type OverviewData, type Section } from './overview-data.ts';
import { FollowedGroupRun, useGroupRun } from './run-group.tsx';

const PLURAL: Readonly<Record<GroupBy, string>> = {
  group: 'groups',
  tag: 'tags',
  location: 'locations',
};
const WITHOUT: Readonly<Record<GroupBy, string>> = {
  group: 'Without a group',
  tag: 'Without tags',
  location: 'Without a location',
};

/** The checks by group, tag or location: sections with the most failing checks first, open sections with rows. */
export function SectionList({
  data,
  by,
  heights,
  line,
  editGroup,
}: {
  readonly data: OverviewData;
  readonly by: GroupBy;
  readonly heights: RowHeights;
  readonly line: RowLine;
  readonly editGroup: (id: number) => void;
}) {
  const open = useOpenSections();
  const groupRun = useGroupRun();
  const found = data.sections.value;
  if (found === null || found.sections.length === 0) return null;
  const blocks: RowBlock[] = [];
  /** The rows of each block, and the index of its first row. */
  const rowsIn = new Map<string, { readonly rows: CheckRows; readonly start: number }>();
  const openRows: CheckRows[] = [];
  for (const section of found.sections) {
    const { key, counts } = section;
    const isOpen = open.has(section);
    const { value } = section;
    const name = section.name ?? value ?? WITHOUT[by];
    const group =
      by === 'group' && value !== null
        ? { run: () => groupRun.start(value), edit: () => editGroup(Number(value)) }
        : null;
    blocks.push({
      key,
      length: 1,
      rowHeight: heights.section,
      label: null,
      row: () => (
        <SectionHead
          key={key}
          section={section}
          name={name}
          isOpen={isOpen}
          toggle={() => open.toggle(section)}
          group={group}
        />
      ),
    });
    if (!isOpen) continue;
    const rows = data.rowsOf(section);
    openRows.push(rows);
    const broken = counts.failing + counts.degraded + counts.unknown;
    const add = (part: 'broken' | 'other', start: number, length: number, label: string): void => {
      if (length === 0) return;
      const block = `${key} ${part}`;
      rowsIn.set(block, { rows, start });
      const rowHeight = heights[part];
      const row = (index: number) => line(rows, start + index, rowHeight);
      blocks.push({ key: block, length, rowHeight, label, row });
    };
    add('broken', 0, broken, `${name}: checks that need attention`);
    add('other', broken, counts.passing + counts.paused, `${name}: checks that pass or are paused`);
  }
  const onRanges = (shown: readonly BlockRange[]): void => {
    const ranges = new Map<CheckRows, RowRange[]>(openRows.map((rows) => [rows, []]));
    for (const { key, from, to } of shown) {
      const at = rowsIn.get(key);
      if (at !== undefined) ranges.get(at.rows)?.push({ from: at.start + from, to: at.start + to });
    }
    for (const [rows, own] of ranges) rows.show(own);
  };
  return (
    <section class="panel" aria-label={`Checks by ${by}`}>
      {groupRun.runId !== null && (
        <FollowedGroupRun key={groupRun.runId} runId={groupRun.runId} close={groupRun.close} />
      )}
      <ListHeads />
      <VirtualBlocks blocks={blocks} onRanges={onRanges} />
      {found.omitted > 0 && (
        <p class="panel-body muted">
          {count(found.omitted)} more {PLURAL[by]} are not shown: those with fewer failing checks.
          Filter the checks to see them.
          {by === 'group' && ' Groups without checks are not shown either.'}
        </p>
      )}
    </section>
  );
}

function SectionHead({
  section: { counts },
  name,
  isOpen,
  toggle,
  group,
}: {
  readonly section: Section;
  readonly name: string;
  readonly isOpen: boolean;
  readonly toggle: () => void;
  /** Null if the section is not a group. */
  readonly group: { readonly run: () => void; readonly edit: () => void } | null;
}) {
  const total = STATES.reduce((sum, state) => sum + counts[state], 0);
  return (
    <div class="overview-section">
      <h2>
        <button type="button" aria-expanded={isOpen} onClick={toggle} title={name}>
          <CaretIcon />
          <span class="ellipsis">{name}</span>
          <span class="muted nowrap">{counted(total, 'check')}</span>
        </button>
      </h2>
      <div class="overview-section-counts">
        {STATES.filter((state) => counts[state] > 0).map((state) => (
          <StateMark key={state} state={state} word={`${count(counts[state])} ${state}`} />
        ))}
      </div>
      {group !== null && may('write') && (
        <Button kind="plain" aria-label={`Edit group ${name}`} onClick={group.edit}>
          Edit
        </Button>
      )}
      {group !== null && may('run') && (
        <Button kind="plain" aria-label={`Run group ${name}`} onClick={group.run}>
          Run group
        </Button>
      )}
    </div>
  );
}

/** The open sections, in the address. The first one closes if there are too many. */
function useOpenSections() {
  const state = useUrlState();
  const open = state.all('open');
  const isRestOpen = state.get('open-rest') === 'true';
  return {
    has: ({ value }: Section): boolean => (value === null ? isRestOpen : open.includes(value)),
    toggle({ value }: Section): void {
      if (value === null) {
        state.set({ 'open-rest': isRestOpen ? null : 'true' });
      } else if (open.includes(value)) {
        state.set({ open: open.filter((each) => each !== value) });
      } else {
        // The section of the other checks counts as one.
        state.set({ open: [...open, value].slice(1 - MAX_SECTIONS) });
      }
    },
  };
}
