import { useEffect } from 'preact/hooks';
import { api, pageOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { useQuery } from '../../api/query.ts';
import { Link } from '../../shell/link.tsx';
import { StateMark } from '../state-mark.tsx';
import { TimeText } from '../time-text.tsx';
import { PROBLEM_WORDS } from './problem-words.ts';

export type MonitoringProblem = components['schemas']['MonitoringProblem'];

/** The service looks for them so often, without an event. */
const SCAN_MS = 15_000;
/** More are left to the API. */
const MAX_SHOWN = 100;

/**
 * What is wrong with monitoring itself; nothing if all is well. Says nothing of its own errors: the page
 * has the same.
 */
export function MonitoringProblems({
  isShown = () => true,
}: {
  /** Default: all of the account. */
  readonly isShown?: (problem: MonitoringProblem) => boolean;
}) {
  const query = useQuery('monitoring-problems', async (signal) => {
    const params = { query: { limit: MAX_SHOWN } };
    return (await pageOf(api.GET('/v1/monitoring-problems', { params, signal }))).entries;
  });
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden && !query.isLoading.value) query.reload();
    }, SCAN_MS);
    return () => clearInterval(timer);
  }, [query]);
  const shown = (query.data.value ?? []).filter(isShown);
  if (shown.length === 0) return null;
  return (
    <ul class="monitoring-problems" aria-label="Problems of monitoring itself">
      {shown.map((problem) => (
        <Problem key={problem.id} problem={problem} />
      ))}
    </ul>
  );
}

function Problem({
  problem: { kind, severity, headline, message, location, channel, since },
}: {
  readonly problem: MonitoringProblem;
}) {
  const path =
    location !== null
      ? `/locations/${location.id}`
      : channel !== null
        ? `/channels/${channel.id}`
        : null;
  return (
    <li class={severity}>
      <p class="monitoring-problem-head">
        <StateMark
          state={severity === 'critical' ? 'failing' : 'degraded'}
          word={PROBLEM_WORDS[kind].word}
        />
        <strong>{path === null ? headline : <Link to={path}>{headline}</Link>}</strong>
        <span class="nowrap">
          for <TimeText at={since} form="since" />
        </span>
      </p>
      <p>{message}</p>
    </li>
  );
}
