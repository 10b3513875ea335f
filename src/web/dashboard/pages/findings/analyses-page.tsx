import { Button } from '../../parts/button.tsx';
import { ListPanel } from '../../parts/lists/list-panel.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import type { Column } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { Link } from '../../shell/link.tsx';
import { useUrlState } from '../../shell/url-state.ts';
import './findings.css';
import { type RootCauseAnalysis, useAnalyses, wordsOf } from './queries.ts';

const COLUMNS: readonly Column<RootCauseAnalysis>[] = [
  {
    name: 'cause',
    head: 'Root cause',
    cell: ({ id, analysis }) => (
      <span class="findings-two findings-error">
        <Link to={`/analyses/${id}`}>{wordsOf(analysis.classification)}</Link>
        <span class="muted">{analysis.rootCause}</span>
      </span>
    ),
  },
  {
    name: 'check',
    head: 'Check',
    cell: ({ checkId, checkName }) =>
      checkId === null ? (
        '–'
      ) : (
        <Link to={`/checks/${encodeURIComponent(checkId)}`}>{checkName ?? checkId}</Link>
      ),
  },
  {
    name: 'by',
    head: 'Made by',
    isOptional: true,
    cell: ({ provider, model }) => (provider === 'rules' ? 'rules' : model),
  },
  { name: 'at', head: 'Day', cell: ({ created_at }) => <TimeText at={created_at} form="date" /> },
];

/** Root cause analyses of failed checks, by rules or a model. */
export function Page() {
  const state = useUrlState();
  const checkId = state.get('check');
  return (
    <>
      <PageHeader title="Root causes">
        {checkId !== null && (
          <Button class="small" onClick={() => state.set({ check: null })}>
            Only one check: show all
          </Button>
        )}
      </PageHeader>
      <ListPanel
        title="Analyses, newest first"
        list={useAnalyses(checkId, state.get('error-group'))}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty="There is none. The service analyses each error that is new, or that returns after it was archived."
      />
    </>
  );
}
