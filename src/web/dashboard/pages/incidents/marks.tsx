import { type MarkedState, StateMark } from '../../parts/states/state-mark.tsx';
import type { Severity, Status } from './queries.ts';

export const STATUSES: readonly { readonly value: Status; readonly label: string }[] = [
  { value: 'INVESTIGATING', label: 'Investigating' },
  { value: 'IDENTIFIED', label: 'Identified' },
  { value: 'MONITORING', label: 'Monitoring' },
  { value: 'RESOLVED', label: 'Resolved' },
];

export const SEVERITIES: readonly { readonly value: Severity; readonly label: string }[] = [
  { value: 'CRITICAL', label: 'Critical: a major outage' },
  { value: 'MAJOR', label: 'Major: a partial outage' },
  { value: 'MEDIUM', label: 'Medium: degraded' },
  { value: 'MINOR', label: 'Minor: degraded' },
];

const MARKS: Readonly<Record<Severity, MarkedState>> = {
  CRITICAL: 'failing',
  MAJOR: 'failing',
  MEDIUM: 'degraded',
  MINOR: 'degraded',
};

/** The effect on its services, as readers see it. */
const IMPACTS: Readonly<Record<Severity, string>> = {
  CRITICAL: 'Major outage',
  MAJOR: 'Partial outage',
  MEDIUM: 'Degraded',
  MINOR: 'Degraded, minor',
};

export function statusWord(status: Status): string {
  return STATUSES.find(({ value }) => value === status)?.label ?? status;
}

/** Its impact while it is open, as readers see it. */
export function IncidentMark({
  severity,
  status,
}: {
  readonly severity: Severity;
  readonly status: Status;
}) {
  if (status === 'RESOLVED') return <StateMark state="passing" word="Resolved" />;
  return <StateMark state={MARKS[severity]} word={IMPACTS[severity]} />;
}
