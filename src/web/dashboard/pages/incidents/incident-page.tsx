import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api } from '../../api/client.ts';
import { ensureDeleted } from '../../api/ensure-deleted.ts';
import type { Query } from '../../api/query.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { showToast } from '../../parts/toast.tsx';
import { addressOf, Link } from '../../shell/link.tsx';
import { useTitle } from '../../shell/title.ts';
import type { PageProps } from '../page-props.ts';
import { audienceText } from './audience.tsx';
import { EditIncident } from './incident-dialogs.tsx';
import './incidents.css';
import { ServiceNames } from './incidents-page.tsx';
import { IncidentMark } from './marks.tsx';
import { PostMortem } from './post-mortem.tsx';
import {
  forgetIncidents,
  type Incident,
  useAudience,
  useIncident,
  useServices,
} from './queries.ts';
import { Updates } from './updates.tsx';

/** One incident: the parts that readers see, and a form for the next update. */
export function Page({ params: { id = '' } }: PageProps) {
  const query = useIncident(id);
  const loaded = query.data.value;
  const error = query.error.value;
  const services = useServices().data.value;
  useTitle(loaded?.resource.name ?? null);
  const crumbs = (
    <p class="incidents-back">
      <Link to="/incidents">Incidents</Link>
    </p>
  );
  if (loaded === null || error?.status === 404) {
    return (
      <>
        {crumbs}
        <PageHeader title="Incident" />
        {error === null && <Skeleton lines={10} height={32} label="Loading the incident" />}
        {error?.status === 404 && (
          <EmptyState title="There is no such incident">
            It may have been deleted. <Link to="/incidents">See all incidents</Link>
          </EmptyState>
        )}
        {error !== null && error.status !== 404 && (
          <ErrorState error={error} retry={query.reload} />
        )}
      </>
    );
  }
  const incident = loaded.resource;
  return (
    <>
      {crumbs}
      <PageHeader
        title={incident.name}
        actions={may('write') && <Actions loaded={loaded} reload={query.reload} />}
      >
        <IncidentMark severity={incident.severity} status={incident.lastUpdateStatus} />
        {incident.isDraft && <span class="chip">draft</span>}
      </PageHeader>
      {error !== null && <ErrorState error={error} retry={query.reload} />}
      <p class="incidents-affects">
        <span class="muted">Affects </span>
        <ServiceNames ids={incident.services} services={services} />
        {may('admin') && (
          <>
            <span class="muted"> · </span>
            <Link to={`/settings/audit-log?kind=status-page-incident&resourceId=${incident.id}`}>
              Who changed it
            </Link>
          </>
        )}
      </p>
      <Updates loaded={loaded} reload={query.reload} />
      <PostMortem loaded={loaded} reload={query.reload} onSaved={query.set} />
    </>
  );
}

function Actions({
  loaded,
  reload,
}: {
  readonly loaded: Loaded<Incident>;
  readonly reload: Query<unknown>['reload'];
}) {
  const { id, name, isDraft } = loaded.resource;
  const [asked, ask] = useState<'edit' | 'publish' | 'delete' | null>(null);
  const { route } = useLocation();
  const params = { path: { incidentId: id } };
  return (
    <>
      {isDraft && (
        <Button kind="primary" onClick={() => ask('publish')}>
          Publish
        </Button>
      )}
      <Button onClick={() => ask('edit')}>Edit</Button>
      <Button kind="danger" onClick={() => ask('delete')}>
        Delete
      </Button>
      {asked === 'edit' && (
        <EditIncident loaded={loaded} reload={reload} onClose={() => ask(null)} />
      )}
      {asked === 'publish' && (
        <Confirm
          title={`Publish ${name}`}
          action="Publish"
          onClose={() => ask(null)}
          run={async () => {
            const { etag } = loaded;
            await api.PATCH('/v1/status-pages/incidents/{incidentId}', {
              params: { ...params, header: etag === null ? {} : { 'If-Match': etag } },
              body: { isDraft: false },
            });
            forgetIncidents();
            showToast({ kind: 'pass', text: `${name} is published.` });
          }}
        >
          <PublishText incident={loaded.resource} />
        </Confirm>
      )}
      {asked === 'delete' && (
        <Confirm
          title={`Delete ${name}`}
          action="Delete the incident"
          onClose={() => ask(null)}
          run={async () => {
            await ensureDeleted(api.DELETE('/v1/status-pages/incidents/{incidentId}', { params }));
            showToast({ kind: 'plain', text: `${name} is deleted.` });
            route(addressOf('/incidents'), true);
            forgetIncidents();
          }}
        >
          <p>
            Its updates and its post-mortem are deleted, and links to it in emails and feeds lead
            nowhere. To end an incident, add an update that says it is resolved. This cannot be
            undone.
          </p>
        </Confirm>
      )}
    </>
  );
}

function PublishText({ incident }: { readonly incident: Incident }) {
  const audience = useAudience(incident.services).data.value;
  const notifies = incident.incidentUpdates.some(({ notifySubscribers }) => notifySubscribers);
  return (
    <>
      <p>Readers of the pages of its services see it. It cannot become a draft again.</p>
      <p>
        {!notifies && 'None of its updates notifies subscribers: nobody gets a message.'}
        {notifies && audience !== null && audienceText(audience)}
      </p>
    </>
  );
}
