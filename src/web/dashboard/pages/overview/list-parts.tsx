import type { ComponentChildren } from 'preact';
import { may } from '../../api/signed-in-user.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { count } from '../../parts/formats.ts';
import { basePath } from '../../shell/base-path.ts';
import { Link } from '../../shell/link.tsx';
import { useUrlState } from '../../shell/url-state.ts';
import type { CheckState } from './check-filter.ts';
import type { CheckRows } from './check-rows.ts';
import type { StateCounts } from './overview-data.ts';

/** A check of a list, as a row of this height. */
export type RowLine = (rows: CheckRows, index: number, height: number) => ComponentChildren;

const COUNTED: readonly CheckState[] = ['failing', 'degraded', 'unknown', 'paused', 'passing'];

/** Links to the checks of each state. The link of the chosen state leads back to all checks. */
export function CountsStrip({ counts }: { readonly counts: StateCounts | null }) {
  const { query } = useUrlState();
  const chosen = query.getAll('state');
  const linkTo = (state: CheckState): string => {
    const next = new URLSearchParams(query);
    next.delete('state');
    next.delete('account');
    if (!chosen.includes(state)) next.append('state', state);
    return `/?${next}`.replace(/\?$/, '');
  };
  return (
    <ul class="overview-counts" aria-label="Checks by state">
      {COUNTED.map((state) => {
        const number = counts?.[state] ?? null;
        return (
          <li key={state}>
            <Link
              to={linkTo(state)}
              class={number === null || number === 0 ? 'zero' : state}
              aria-current={chosen.includes(state) ? 'page' : undefined}
            >
              <b>{number === null ? '–' : count(number)}</b> {state}
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

/** The column headings. */
export function ListHeads() {
  return (
    <div class="overview-heads" aria-hidden="true">
      <span class="overview-select" />
      <span>State</span>
      <span>Check</span>
      <span>Since</span>
      <span>Locations</span>
      <span>Last 24 h</span>
      <span class="num">Now</span>
      <span class="num">Usual</span>
    </div>
  );
}

export function NoChecks() {
  const origin = `${location.origin}${basePath}`;
  return (
    <div class="panel">
      <EmptyState
        title="There are no checks yet"
        command={`export SERVICE_URL=${origin} API_KEY=vk_…\nvedette apply vedette.yaml`}
      >
        <p>
          {may('write') ? (
            <>
              <Link to="/checks/new">Create the first one</Link>, or describe
            </>
          ) : (
            'Describe'
          )}{' '}
          them in a file and apply it with a key of the role write. The{' '}
          <a href={`${basePath}/docs`}>handbook</a> has an example for each type. They appear here
          by themselves.
        </p>
      </EmptyState>
    </div>
  );
}

export function NothingFound() {
  return (
    <div class="panel">
      <EmptyState title="No check matches these filters">
        <Link to="/">Show all checks</Link>
      </EmptyState>
    </div>
  );
}
