import { useEffect } from 'preact/hooks';
import { api, pageOf } from '../../api/client.ts';
import type { components, operations } from '../../api/openapi.d.ts';
import { useQuery } from '../../api/query.ts';
import { Link } from '../../shell/link.tsx';
import { ChoicesError } from '../error-state.tsx';
import { count } from '../formats.ts';
import { StateMark } from '../states/state-mark.tsx';
import { TimeText } from '../time-text.tsx';
import { PROBLEM_WORDS } from './problem-words.ts';

type MonitoringProblem = components['schemas']['MonitoringProblem'];
type ProblemFilter = Pick<
  NonNullable<operations['listMonitoringProblems']['parameters']['query']>,
  'kind' | 'locationId' | 'channelId'
>;

/** The interval in which the service looks for problems; it sends no event for them. */
const SCAN_MS = 15_000;
/** The most problems to show, the worst first. The API has all of them. */
const MAX_SHOWN = 100;

/** The problems of monitoring itself; shows nothing if there are none. */
export function MonitoringProblems({
  filter = {},
}: {
  /** Default: all problems of the account. */
  readonly filter?: ProblemFilter;
}) {
  const query = useQuery(`monitoring-problems ${JSON.stringify(filter)}`, (signal) => {
    const params = { query: { ...filter, limit: MAX_SHOWN } };
    return pageOf(api.GET('/v1/monitoring-problems', { params, signal }));
  });
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden && !query.isLoading.value) query.reload();
    }, SCAN_MS);
    return () => clearInterval(timer);
  }, [query]);
  const { entries = [], total = null } = query.data.value ?? {};
  const more = (total ?? 0) - entries.length;
  return (
    <>
      <ChoicesError
        what="problems of monitoring itself"
        error={query.error.value}
        retry={query.reload}
      />
      {entries.length > 0 && (
        <ul class="monitoring-problems" aria-label="Problems of monitoring itself">
          {entries.map((problem) => (
            <Problem key={problem.id} problem={problem} />
          ))}
          {more > 0 && <li>And {count(more)} more: the API lists them all.</li>}
        </ul>
      )}
    </>
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
