import { useId, useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { ensureDeleted } from '../../api/ensure-deleted.ts';
import type { Query } from '../../api/query.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { FormError, problemOf, SelectField } from '../../parts/field.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { useEdited } from '../../parts/forms/use-edited.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { TimeText } from '../../parts/time-text.tsx';
import { showToast } from '../../parts/toast.tsx';
import { NotifyField } from './audience.tsx';
import { UpdateText } from './incident-dialogs.tsx';
import { STATUSES, statusWord } from './marks.tsx';
import {
  forgetIncidents,
  type Incident,
  type IncidentUpdate,
  type Status,
  useAudience,
  useServices,
} from './queries.ts';

interface UpdatesProps {
  readonly loaded: Loaded<Incident>;
  readonly reload: Query<unknown>['reload'];
}

/** The published updates, newest first, and a form for the next one. */
export function Updates({ loaded, reload }: UpdatesProps) {
  const id = useId();
  const [deleted, setDeleted] = useState<IncidentUpdate | null>(null);
  const { incidentUpdates, id: incidentId } = loaded.resource;
  const canDelete = may('write') && incidentUpdates.length > 1;
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>Updates</h2>
      </div>
      {may('write') && <AddUpdate loaded={loaded} reload={reload} />}
      <ol class="incidents-updates" aria-label="Updates, newest first">
        {incidentUpdates.toReversed().map((update) => (
          <li key={update.id}>
            <div class="incidents-update-head">
              <strong>{statusWord(update.status)}</strong>
              <span class="muted">
                <TimeText at={update.publicIncidentUpdateDate} form="full" /> (
                <TimeText at={update.publicIncidentUpdateDate} />)
              </span>
              {update.notifySubscribers && <span class="chip">subscribers notified</span>}
              {update.updated_at !== null && <span class="chip">edited</span>}
              <span class="grow" />
              {canDelete && (
                <Button
                  class="small"
                  kind="danger"
                  aria-label={`Delete the update ${statusWord(update.status)}: ${update.description.slice(0, 40)}`}
                  onClick={() => setDeleted(update)}
                >
                  Delete
                </Button>
              )}
            </div>
            <p class="incidents-text">{update.description}</p>
          </li>
        ))}
      </ol>
      {deleted !== null && (
        <Confirm
          title="Delete this update"
          action="Delete the update"
          removesOpener
          onClose={() => setDeleted(null)}
          run={async () => {
            const path = { incidentId, updateId: deleted.id };
            await ensureDeleted(
              api.DELETE('/v1/status-pages/incidents/{incidentId}/incident-updates/{updateId}', {
                params: { path },
              }),
            );
            forgetIncidents();
            showToast({ kind: 'plain', text: 'The update is deleted.' });
          }}
        >
          <p>
            Pages no longer show it, and the incident has the status of the update before.
            {deleted.notifySubscribers && ' Messages that were sent cannot be taken back.'} This
            cannot be undone.
          </p>
        </Confirm>
      )}
    </section>
  );
}

interface NewUpdate {
  readonly status: Status;
  readonly text: string;
  readonly notifies: boolean;
  /** The previous updates: one that was added meanwhile may say the same. */
  readonly after: readonly string[];
}

function newUpdate({ lastUpdateStatus, incidentUpdates }: Incident): NewUpdate {
  const after = incidentUpdates.map((update) => update.id).toSorted();
  return { status: lastUpdateStatus, text: '', notifies: false, after };
}

const LABELS: Readonly<Record<string, string>> = { after: 'updates' };

function AddUpdate({ loaded, reload }: UpdatesProps) {
  const { resource } = loaded;
  const { id, services, isDraft } = resource;
  const edited = useEdited({ loaded, formOf: newUpdate, reload });
  const { saving, change } = edited;
  const { status, text, notifies } = edited.form;
  const add = async (): Promise<void> => {
    const isAdded = await edited.save(async ({ status, text, notifies }, etag) => {
      const { data } = await api.POST('/v1/status-pages/incidents/{incidentId}/incident-updates', {
        params: {
          path: { incidentId: id },
          header: etag === null ? {} : { 'If-Match': etag },
        },
        body: { status, description: text, notifySubscribers: notifies },
      });
      forgetIncidents();
      const incidentUpdates = [...resource.incidentUpdates, data as IncidentUpdate];
      // The response has the update, not the incident: its ETag comes when it is read again.
      return { resource: { ...resource, incidentUpdates, lastUpdateStatus: status }, etag };
    });
    if (isAdded) showToast({ kind: 'pass', text: 'The update is added.' });
  };
  return (
    <form
      class="panel-body incidents-add"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <SelectField
        label="Status"
        value={status}
        options={STATUSES}
        onValue={(value) => change({ status: value as Status })}
      />
      <UpdateText
        text={text}
        onValue={(value) => change({ text: value })}
        problem={problemOf(saving.problems, 'description')}
      />
      <NotifyField
        services={services}
        isDraft={isDraft}
        isChecked={notifies}
        onValue={(value) => change({ notifies: value })}
      />
      {notifies && <Message incident={resource} status={status} text={text} />}
      {edited.isOutdated ? (
        <Outdated
          kind="status-page-incident"
          id={id}
          what="incident"
          edited={edited}
          labelOf={(name) => LABELS[name] ?? name}
        />
      ) : (
        <FormError error={saving.error} fields={['description']} />
      )}
      <Button kind="primary" type="submit" isBusy={saving.isBusy}>
        {notifies && !isDraft ? 'Add the update and notify' : 'Add the update'}
      </Button>
    </form>
  );
}

/** The text of the mail of an update, as the service writes it. */
function Message({
  incident: { name, services },
  status,
  text,
}: {
  readonly incident: Incident;
  readonly status: Status;
  readonly text: string;
}) {
  const known = useServices().data.value;
  const pages = useAudience(services).data.value?.pages ?? [];
  const [page] = pages;
  const from = pages.length === 1 && page !== undefined ? page.name : 'name of the page';
  return (
    <section class="incidents-message" aria-label="The message to subscribers">
      <p class="muted">Subscribers get this email within a minute. It cannot be taken back.</p>
      <p>
        <strong>
          [{from}] {statusWord(status)}: {name}
        </strong>
      </p>
      <p class="muted">
        Services: {services.map((id) => known?.get(id)?.name ?? id).join(', ') || 'none'}
      </p>
      <p class="incidents-text">{text === '' ? '…' : text}</p>
    </section>
  );
}
