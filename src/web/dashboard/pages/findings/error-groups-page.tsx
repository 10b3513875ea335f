import { useState } from 'preact/hooks';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { count } from '../../parts/formats.ts';
import { ListPanel } from '../../parts/lists/list-panel.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import type { Column } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { showToast } from '../../parts/toast.tsx';
import { useAction } from '../../parts/use-action.ts';
import { Link } from '../../shell/link.tsx';
import { useUrlState } from '../../shell/url-state.ts';
import './findings.css';
import { archive, type ErrorGroup, useErrorGroups, useOccurrences, wordsOf } from './queries.ts';

const COLUMNS: readonly Column<ErrorGroup>[] = [
  { name: 'error', head: 'Error', cell: (group) => <Message group={group} /> },
  {
    name: 'check',
    head: 'Check',
    cell: ({ checkId, checkName }) => (
      <Link to={`/checks/${encodeURIComponent(checkId)}`}>{checkName ?? checkId}</Link>
    ),
  },
  { name: 'count', head: 'Runs', isNumber: true, cell: (group) => count(group.occurrences) },
  { name: 'last', head: 'Last seen', cell: ({ lastSeen }) => <TimeText at={lastSeen} /> },
  { name: 'first', head: 'First seen', cell: ({ firstSeen }) => <TimeText at={firstSeen} /> },
];

/** Failures of all checks, grouped by error, the latest first. */
export function Page() {
  const state = useUrlState();
  const isArchived = state.get('state') === 'archived';
  const checkId = state.get('check');
  const list = useErrorGroups(isArchived, checkId);
  return (
    <>
      <PageHeader title="Error groups">
        {checkId !== null && (
          <Button class="small" onClick={() => state.set({ check: null })}>
            Only one check: show all
          </Button>
        )}
      </PageHeader>
      <FilterBar
        filters={[
          {
            name: 'state',
            label: 'Show',
            any: 'current',
            choices: [{ value: 'archived', label: 'archived' }],
          },
        ]}
      />
      <ListPanel
        title={isArchived ? 'Archived errors' : 'Errors, the latest first'}
        list={list}
        columns={may('write') ? [...COLUMNS, ACTIONS] : COLUMNS}
        keyOf={({ id }) => id}
        empty={
          isArchived
            ? 'No error is archived.'
            : 'No run has failed with an error that is not archived. Runs that fail with the same error will be one entry here.'
        }
      />
    </>
  );
}

function Message({ group }: { readonly group: ErrorGroup }) {
  const [isOpen, setOpen] = useState(false);
  const { rawErrorMessage, cleanedErrorMessage } = group;
  return (
    <details
      class="findings-error"
      onToggle={(event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}
    >
      <summary>{rawErrorMessage ?? cleanedErrorMessage}</summary>
      {isOpen && <Occurrences group={group} />}
    </details>
  );
}

function Occurrences({
  group: { id, checkId, rootCauseAnalyses },
}: {
  readonly group: ErrorGroup;
}) {
  const { data, error } = useOccurrences(id);
  const found = data.value;
  const [analysis] = rootCauseAnalyses as readonly {
    readonly id?: string;
    readonly classification?: string;
    readonly rootCause?: string;
  }[];
  if (error.value !== null) return <p class="failing">{error.value.message}</p>;
  if (found === null) return <p class="muted">Looking for its runs…</p>;
  const { first, last, locations } = found;
  const linkTo = (resultId: string): string =>
    `/checks/${encodeURIComponent(checkId)}/results/${encodeURIComponent(resultId)}`;
  return (
    <dl class="findings-facts">
      <div>
        <dt>Last run</dt>
        <dd>
          {last === null ? (
            'no longer stored'
          ) : (
            <>
              <Link to={linkTo(last.resultId)}>
                <TimeText at={last.startedAt} form="full" />
              </Link>{' '}
              in {last.location}
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>First run</dt>
        <dd>
          {first === null ? (
            'no longer stored'
          ) : (
            <>
              <Link to={linkTo(first.resultId)}>
                <TimeText at={first.startedAt} form="full" />
              </Link>{' '}
              in {first.location}
            </>
          )}
        </dd>
      </div>
      {locations.length > 0 && (
        <div>
          <dt>Locations</dt>
          <dd>{locations.join(', ')}</dd>
        </div>
      )}
      {analysis?.id !== undefined && (
        <div>
          <dt>Root cause</dt>
          <dd>
            <Link to={`/analyses/${analysis.id}`}>{wordsOf(analysis.classification ?? '')}</Link>
            {analysis.rootCause !== undefined && `: ${analysis.rootCause}`}
          </dd>
        </div>
      )}
    </dl>
  );
}

const ACTIONS: Column<ErrorGroup> = {
  name: 'actions',
  head: <span class="visually-hidden">Actions</span>,
  cell: (group) => <ArchiveButton group={group} />,
};

function ArchiveButton({ group }: { readonly group: ErrorGroup }) {
  const { id, archivedUntilNextEvent: isArchived } = group;
  const change = useAction(async (how: Parameters<typeof archive>[1], done: string) => {
    await archive(id, how);
    const undo = { label: 'Undo', run: restore };
    showToast({ kind: 'plain', text: done, ...(how === 'none' ? {} : { action: undo }) });
  });
  const restore = (): void => change.run('none', 'It is shown again.');
  if (isArchived) {
    return (
      <Button class="small" isBusy={change.isBusy} onClick={restore}>
        Restore
      </Button>
    );
  }
  return (
    <Menu label="Archive" buttonClass="button small">
      <MenuItem onSelect={() => change.run('until-next', 'Archived until it occurs again.')}>
        Until it occurs again
      </MenuItem>
      <MenuItem onSelect={() => change.run('for-ever', 'Archived for ever.')}>For ever</MenuItem>
    </Menu>
  );
}
