import { count } from '../../parts/formats.ts';
import { ListPanel } from '../../parts/lists/list-panel.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { StateMark } from '../../parts/states/state-mark.tsx';
import type { Column } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { Link } from '../../shell/link.tsx';
import './findings.css';
import { type TestSession, useTestSessions } from './queries.ts';

export function Verdict({ session }: { readonly session: TestSession }) {
  if (session.hasFailures) return <StateMark state="failing" word="Failed" />;
  if (session.counts.degraded > 0) return <StateMark state="degraded" word="Degraded" />;
  if (session.results === 0) return <StateMark state="unknown" word="No runs" />;
  return <StateMark state="passing" word="Passed" />;
}

export function Counts({ counts }: Pick<TestSession, 'counts'>) {
  const shown = Object.entries(counts).filter(([, number]) => number > 0);
  return (
    <span class="findings-counts">
      {shown.map(([name, number]) => (
        <span key={name} class="nowrap">
          {count(number)} {name}
        </span>
      ))}
    </span>
  );
}

/** The commit and branch that a session tested, and its environment. */
export function sourceOf({ branch, commitId, environment }: TestSession): string {
  return [environment, branch, commitId?.slice(0, 10)].filter((part) => part).join(' · ');
}

const COLUMNS: readonly Column<TestSession>[] = [
  { name: 'verdict', head: 'Result', cell: (session) => <Verdict session={session} /> },
  {
    name: 'name',
    head: 'Session',
    cell: (session) => (
      <span class="findings-two">
        <Link to={`/test-sessions/${session.id}`}>{session.name ?? 'Without a name'}</Link>
        <span class="muted">{sourceOf(session)}</span>
      </span>
    ),
  },
  {
    name: 'project',
    head: 'Project',
    isOptional: true,
    cell: ({ projectId }) => projectId ?? '–',
  },
  { name: 'counts', head: 'Runs', cell: ({ counts }) => <Counts counts={counts} /> },
  { name: 'at', head: 'Reported', cell: ({ created_at }) => <TimeText at={created_at} /> },
];

/** Runs of check files outside the service, such as those of a deployment. */
export function Page() {
  return (
    <>
      <PageHeader title="Test sessions" />
      <ListPanel
        title="Sessions, newest first"
        list={useTestSessions()}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={
          <>
            There is none. <code>vedette run checks.yaml --report</code> runs a check file once, for
            example after a deployment, and reports its results here.
          </>
        }
      />
    </>
  );
}
