import { count, counted } from '../../parts/formats.ts';
import { StateMark } from '../../parts/states/state-mark.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { Link } from '../../shell/link.tsx';
import type { Facts } from './queries.ts';

/** The number of remaining days from which on the certificate should be renewed. */
const SOON_DAYS = 30;
const URGENT_DAYS = 7;
const MAX_NAMES = 3;

/** The remaining days, as a state. */
export function DaysLeft({ days }: { readonly days: number }) {
  if (days < 0) return <StateMark state="failing" word="Expired" />;
  const state = days <= URGENT_DAYS ? 'failing' : days <= SOON_DAYS ? 'degraded' : 'passing';
  return <StateMark state={state} word={days === 0 ? 'Today' : counted(days, 'day')} />;
}

/** `CN=shop.example.com, O=Shop` becomes `shop.example.com`. */
export function commonName(subject: string): string {
  return partOf(subject, 'CN') ?? partOf(subject, 'O') ?? subject;
}

function partOf(name: string, part: string): string | null {
  return new RegExp(`(?:^|, ?|\\n)${part}=([^,\\n]+)`).exec(name)?.[1] ?? null;
}

export function Names({ facts }: { readonly facts: Facts }) {
  const own = commonName(facts.subject);
  const others = facts.names.filter((name) => name !== own);
  const shown = others.slice(0, MAX_NAMES);
  const more = facts.nameCount - facts.names.length + others.length - shown.length;
  return (
    <span class="certificates-names">
      <strong>{own === '' ? (shown[0] ?? 'without a name') : own}</strong>
      {shown.length > 0 && (
        <span class="muted" title={facts.names.join(', ')}>
          {shown.join(', ')}
          {more > 0 && ` and ${count(more)} more`}
        </span>
      )}
    </span>
  );
}

export function Issuer({ facts }: { readonly facts: Facts }) {
  const isSelfSigned = facts.issuer === facts.subject;
  const organisation = partOf(facts.issuer, 'O');
  return (
    <span class="certificates-names" title={facts.issuer}>
      <span>{isSelfSigned ? 'itself' : commonName(facts.issuer)}</span>
      {!isSelfSigned && organisation !== null && <span class="muted">{organisation}</span>}
    </span>
  );
}

export function ValidUntil({ facts }: { readonly facts: Facts | null }) {
  return facts === null ? <>–</> : <TimeText at={facts.validTo} form="full" />;
}

/** The checks of a certificate: the first one, and the others on request. */
export function ChecksOf({
  checks,
  total,
}: {
  readonly checks: readonly { readonly id: string; readonly name: string }[];
  readonly total: number;
}) {
  const [first] = checks;
  if (first === undefined) return <span class="muted">no check</span>;
  if (total === 1) return <CheckLink {...first} />;
  return (
    <details class="certificates-checks">
      <summary>{counted(total, 'check')}</summary>
      <ul>
        {checks.map((check) => (
          <li key={check.id}>
            <CheckLink {...check} />
          </li>
        ))}
        {total > checks.length && <li class="muted">and {count(total - checks.length)} more</li>}
      </ul>
    </details>
  );
}

function CheckLink({ id, name }: { readonly id: string; readonly name: string }) {
  return <Link to={`/checks/${encodeURIComponent(id)}`}>{name}</Link>;
}
