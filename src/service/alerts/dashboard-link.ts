import type { ProblemSubject } from './monitoring-problems/subject.ts';
import type { AlertNotice } from './notice.ts';

/**
 * The page of the dashboard that shows what happened: the run, the location, the heartbeat, or the subject of a problem
 * of monitoring itself; for several notices the list of alerts.
 *
 * @param publicUrl the base of links without a trailing slash, such as PUBLIC_URL; null if there is none
 */
export function dashboardLink(notice: AlertNotice, publicUrl: string | null): string | null {
  return publicUrl === null ? null : `${publicUrl}${pathOf(notice)}`;
}

function pathOf({ bundle, location, problem, check, resultId = null }: AlertNotice): string {
  if (bundle !== undefined) return '/alerts';
  if (problem !== undefined) return pathOfProblem(problem.subject);
  if (location !== undefined) return `/locations/${location.id}`;
  if (check.checkType === 'HEARTBEAT') return `/heartbeats/${check.id}`;
  return resultId === null ? `/checks/${check.id}` : `/checks/${check.id}/results/${resultId}`;
}

function pathOfProblem(subject: ProblemSubject): string {
  switch (subject.kind) {
    case 'location':
      return `/locations/${subject.id}`;
    case 'channel':
      return `/channels/${subject.id}`;
    default:
      return '/alerts';
  }
}
