import { count } from '../../parts/formats.ts';
import { StateMark } from '../../parts/states/state-mark.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { Link } from '../../shell/link.tsx';
import { useUrlState } from '../../shell/url-state.ts';
import type { SilentLocation } from './overview-data.ts';

const MAX_SHOWN = 5;

/** One line for each silent location instead of a row for each of its checks. */
export function SilentLocations({ locations }: { readonly locations: readonly SilentLocation[] }) {
  const { query } = useUrlState();
  if (locations.length === 0) return null;
  const checksOf = (location: string): string => {
    const next = new URLSearchParams(query);
    next.delete('account');
    next.set('location', location);
    next.set('silent', 'true');
    return `/?${next}`;
  };
  const more = locations.length - MAX_SHOWN;
  return (
    <section class="panel" aria-label="Silent locations">
      <ul class="overview-silent">
        {locations.slice(0, MAX_SHOWN).map(({ location, name, since, checks }) => (
          <li key={location}>
            <StateMark state="unknown" word="No agent" />
            <span>
              <b>{name}</b>: no agent has polled for <TimeText at={since} form="since" />, so{' '}
              {checks === 1 ? '1 check does' : `${count(checks)} checks do`} not run.
            </span>
            <Link to={checksOf(location)}>Show {checks === 1 ? 'it' : 'them'}</Link>
            <Link to="/locations">Start an agent</Link>
          </li>
        ))}
        {more > 0 && (
          <li>
            <Link to="/locations">
              {count(more)} more {more === 1 ? 'location' : 'locations'} without an agent
            </Link>
          </li>
        )}
      </ul>
    </section>
  );
}
