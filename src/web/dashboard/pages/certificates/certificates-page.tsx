import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { count, counted } from '../../parts/formats.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Pager } from '../../parts/pager.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { Link } from '../../shell/link.tsx';
import { useUrlState } from '../../shell/url-state.ts';
import './certificates.css';
import { ClientCertificates } from './client-certificates.tsx';
import { ChecksOf, DaysLeft, Issuer, Names, ValidUntil } from './facts.tsx';
import { byCertificate, type SeenByChecks, useSeenCertificates } from './queries.ts';

const COLUMNS: readonly Column<SeenByChecks>[] = [
  {
    name: 'days',
    head: 'Expires in',
    cell: ({ daysRemaining }) => <DaysLeft days={daysRemaining} />,
  },
  {
    name: 'names',
    head: 'Certificate',
    cell: ({ facts, checks }) =>
      facts === null ? (
        <span class="certificates-names">
          <strong>{checks[0]?.name}</strong>
          <span class="muted">the result with its details is no longer stored</span>
        </span>
      ) : (
        <Names facts={facts} />
      ),
  },
  {
    name: 'issuer',
    head: 'Issued by',
    cell: ({ facts, isTrusted }) => (
      <span class="certificates-names">
        {facts === null ? '–' : <Issuer facts={facts} />}
        {!isTrusted && <strong class="failing">not trusted</strong>}
      </span>
    ),
  },
  { name: 'until', head: 'Valid until', cell: ({ facts }) => <ValidUntil facts={facts} /> },
  {
    name: 'checks',
    head: 'Seen by',
    cell: ({ checks }) => (
      <ChecksOf
        checks={checks.map(({ checkId, name }) => ({ id: checkId, name }))}
        total={checks.length}
      />
    ),
  },
  {
    name: 'seen',
    head: 'Last seen',
    isOptional: true,
    cell: ({ checks }) => {
      const last = checks.map(({ seenAt }) => seenAt).sort();
      return <TimeText at={last.at(-1) ?? ''} />;
    },
  },
];

/** The certificates of targets, and those that checks present themselves. */
export function Page() {
  const isClient = useUrlState().get('view') === 'client';
  const current = (is: boolean) => (is ? ({ 'aria-current': 'page' } as const) : {});
  return (
    <>
      <PageHeader title="Certificates" />
      <nav class="tabs" aria-label="Kinds of certificates">
        <Link to="/certificates" {...current(!isClient)}>
          Of targets
        </Link>
        <Link to="/certificates?view=client" {...current(isClient)}>
          Client certificates
        </Link>
      </nav>
      {isClient ? <ClientCertificates /> : <OfTargets />}
    </>
  );
}

function OfTargets() {
  const { query, more } = useSeenCertificates();
  const data = query.data.value;
  const error = query.error.value;
  const rows = byCertificate(data?.entries ?? []);
  const expired = rows.filter(({ daysRemaining }) => daysRemaining < 0).length;
  const soon = rows.filter(({ daysRemaining: days }) => days >= 0 && days <= 30).length;
  return (
    <>
      {error !== null && <ErrorState error={error} retry={query.reload} />}
      {data === null && error === null && (
        <div class="panel">
          <Skeleton lines={8} height={44} label="Loading the certificates" />
        </div>
      )}
      {data !== null && rows.length === 0 && (
        <div class="panel">
          <EmptyState title="No check has seen a certificate yet">
            <p>
              The certificate of a target appears here once a URL, API, TCP or DNS check has reached
              the target over TLS. Those that expire first come first.
            </p>
          </EmptyState>
        </div>
      )}
      {data !== null && rows.length > 0 && (
        <section class="panel" aria-label="Certificates of targets">
          <div class="panel-head">
            <h2>{counted(rows.length, 'certificate')}, what expires first comes first</h2>
            <span class="muted">
              {expired > 0 && <strong class="failing">{count(expired)} expired</strong>}
              {expired > 0 && soon > 0 && ', '}
              {soon > 0 && `${count(soon)} within 30 days`}
            </span>
          </div>
          <Table
            label="Certificates of targets"
            columns={COLUMNS}
            rows={rows}
            keyOf={({ key }) => key}
          />
          {data.total !== null && data.total > data.entries.length && (
            <Pager
              shown={data.entries.length}
              total={data.total}
              isAtLeast={data.isAtLeast}
              hasMore
              isLoading={query.isLoading.value}
              more={more}
            />
          )}
        </section>
      )}
    </>
  );
}
