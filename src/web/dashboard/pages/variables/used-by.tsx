import { count, counted } from '../../parts/formats.ts';
import { Link } from '../../shell/link.tsx';
import type { VariableUse } from './queries.ts';

/** The number and the names of the checks that use a variable. */
export function UsedBy({ use }: { readonly use: VariableUse | null }) {
  if (use === null) return <span class="muted">no check</span>;
  const { checks, checkCount } = use;
  const [only] = checks;
  if (checkCount === 1 && only !== undefined) return <CheckLink {...only} />;
  return (
    <details class="variables-uses">
      <summary>{counted(checkCount, 'check')}</summary>
      <CheckLinks checks={checks} total={checkCount} />
    </details>
  );
}

export function CheckLinks({
  checks,
  total,
}: {
  readonly checks: VariableUse['checks'];
  readonly total: number;
}) {
  return (
    <ul class="variables-checks">
      {checks.map((check) => (
        <li key={check.id}>
          <CheckLink {...check} />
        </li>
      ))}
      {total > checks.length && <li class="muted">and {count(total - checks.length)} more</li>}
    </ul>
  );
}

function CheckLink({ id, name }: VariableUse['checks'][number]) {
  return <Link to={`/checks/${encodeURIComponent(id)}`}>{name}</Link>;
}
