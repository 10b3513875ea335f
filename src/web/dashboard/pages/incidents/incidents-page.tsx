import { useState } from 'preact/hooks';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { counted } from '../../parts/formats.ts';
import { ListPanel } from '../../parts/lists/list-panel.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import type { Column } from '../../parts/table.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { Link } from '../../shell/link.tsx';
import { NewIncident } from './incident-dialogs.tsx';
import './incidents.css';
import { IncidentMark, statusWord } from './marks.tsx';
import { type Incident, type Service, useIncidents, useServices } from './queries.ts';

const MAX_NAMED = 3;

/** The incidents of status pages, open ones first. */
export function Page() {
  const [isMaking, setMaking] = useState(false);
  const open = useIncidents('open');
  const resolved = useIncidents('resolved');
  const services = useServices().data.value;
  // After an error the lists are shown with the error.
  const isEmpty = [open, resolved].every(
    ({ query }) => query.data.value?.entries.length === 0 && query.error.value === null,
  );
  const columns = columnsOf(services);
  return (
    <>
      <PageHeader
        title="Incidents"
        actions={
          may('write') && (
            <Button kind="primary" onClick={() => setMaking(true)}>
              New incident
            </Button>
          )
        }
      />
      {isEmpty ? (
        <div class="panel">
          <EmptyState title="There is no incident">
            An incident tells the readers of your status pages what is wrong, and what you do about
            it. Checks can open one by themselves.
          </EmptyState>
        </div>
      ) : (
        <>
          <ListPanel
            title="Open"
            list={open}
            columns={columns}
            keyOf={({ id }) => id}
            empty="No incident is open."
          />
          <ListPanel
            title="Resolved"
            list={resolved}
            columns={columns}
            keyOf={({ id }) => id}
            empty="No incident is resolved."
          />
        </>
      )}
      {isMaking && <NewIncident onClose={() => setMaking(false)} />}
    </>
  );
}

function columnsOf(services: ReadonlyMap<string, Service> | null): readonly Column<Incident>[] {
  return [
    {
      name: 'impact',
      head: 'Impact',
      cell: ({ severity, lastUpdateStatus }) => (
        <IncidentMark severity={severity} status={lastUpdateStatus} />
      ),
    },
    {
      name: 'name',
      head: 'Incident',
      cell: ({ id, name, isDraft, postMortem }) => (
        <span class="incidents-name">
          <Link to={`/incidents/${id}`}>{name}</Link>
          {isDraft && <span class="chip">draft</span>}
          {postMortem !== null && <span class="chip">post-mortem</span>}
        </span>
      ),
    },
    { name: 'status', head: 'Status', cell: (one) => statusWord(one.lastUpdateStatus) },
    {
      name: 'services',
      head: 'Services',
      cell: ({ services: ids }) => <ServiceNames ids={ids} services={services} />,
    },
    {
      name: 'since',
      head: 'Opened',
      cell: (incident) => (
        <span class="nowrap">
          <TimeText at={incident.created_at} />
        </span>
      ),
    },
  ];
}

export function ServiceNames({
  ids,
  services,
}: {
  readonly ids: readonly string[];
  readonly services: ReadonlyMap<string, Service> | null;
}) {
  if (ids.length === 0) return <span class="degraded">none: no page shows it</span>;
  if (services === null) return <>{counted(ids.length, 'service')}</>;
  const names = ids.map((id) => services.get(id)?.name ?? id);
  const more = names.length - MAX_NAMED;
  return (
    <span title={names.join(', ')}>
      {names.slice(0, MAX_NAMED).join(', ')}
      {more > 0 && ` and ${more} more`}
    </span>
  );
}
