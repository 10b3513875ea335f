import { useId, useState } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { FormError, problemOf, SelectField } from '../../parts/field.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { type Loaded, useSaving } from '../../parts/forms/use-saving.ts';
import { useUnsavedGuard } from '../../parts/forms/use-unsaved-guard.ts';
import { TimeText } from '../../parts/time-text.tsx';
import { showToast } from '../../parts/toast.tsx';
import { NotifyField } from './audience.tsx';
import { UpdateText } from './incident-dialogs.tsx';
import { STATUSES, statusWord } from './marks.tsx';
import { forgetIncidents, type Incident, type IncidentUpdate, type Status } from './queries.ts';

interface UpdatesProps {
  readonly loaded: Loaded<Incident>;
  readonly reload: () => void;
}

/** What readers were told, newest first, and a form for what they are told next. */
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
              {update.notifySubscribers && <span class="chip">subscribers told</span>}
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
          onClose={() => setDeleted(null)}
          run={async () => {
            const path = { incidentId, updateId: deleted.id };
            await api.DELETE(
              '/v1/status-pages/incidents/{incidentId}/incident-updates/{updateId}',
              { params: { path } },
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

function AddUpdate({ loaded: { resource, etag }, reload }: UpdatesProps) {
  const { id, services, isDraft, lastUpdateStatus } = resource;
  const [status, setStatus] = useState<Status>(lastUpdateStatus);
  const [text, setText] = useState('');
  const [notifies, setNotifies] = useState(false);
  /** What the text was written for: another update that came meanwhile may say the same. */
  const [base, setBase] = useState(etag);
  const saving = useSaving();
  useUnsavedGuard(text !== '');
  const current = text === '' ? etag : base;
  const add = async (): Promise<void> => {
    const isAdded = await saving.run(async () => {
      await api.POST('/v1/status-pages/incidents/{incidentId}/incident-updates', {
        params: {
          path: { incidentId: id },
          header: current === null ? {} : { 'If-Match': current },
        },
        body: { status, description: text, notifySubscribers: notifies },
      });
    });
    if (!isAdded) return;
    setText('');
    setNotifies(false);
    forgetIncidents();
    showToast({ kind: 'pass', text: 'The update is added.' });
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
        onValue={(value) => setStatus(value as Status)}
      />
      <UpdateText
        text={text}
        onValue={(value) => {
          if (text === '') setBase(etag);
          setText(value);
        }}
        problem={problemOf(saving.problems, 'description')}
      />
      <NotifyField
        services={services}
        isDraft={isDraft}
        isChecked={notifies}
        onValue={setNotifies}
      />
      {saving.isOutdated ? (
        <Outdated
          kind="status-page-incident"
          id={id}
          what="incident"
          load="Load theirs and keep my text"
          onLoad={() => {
            saving.forget();
            reload();
            setBase(null);
          }}
        />
      ) : (
        <FormError error={saving.error} fields={['description']} />
      )}
      <Button kind="primary" type="submit" isBusy={saving.isBusy}>
        {notifies && !isDraft ? 'Add the update and tell' : 'Add the update'}
      </Button>
    </form>
  );
}
