import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api } from '../../api/client.ts';
import type { Query } from '../../api/query.ts';
import { CheckField, Field, FormError, problemOf, SelectField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { useEdited } from '../../parts/forms/use-edited.ts';
import { type Loaded, useSaving } from '../../parts/forms/use-saving.ts';
import { showToast } from '../../parts/toast.tsx';
import { addressOf } from '../../shell/link.tsx';
import { NotifyField } from './audience.tsx';
import { FIELD_NAMES, IncidentFields, type IncidentForm } from './incident-fields.tsx';
import { STATUSES } from './marks.tsx';
import { forgetIncidents, type Incident, type Status } from './queries.ts';

const NEW: IncidentForm = { name: '', severity: 'MAJOR', services: [] };

export function NewIncident({ onClose }: { readonly onClose: () => void }) {
  const [form, setForm] = useState(NEW);
  const [status, setStatus] = useState<Status>('INVESTIGATING');
  const [text, setText] = useState('');
  const [isDraft, setDraft] = useState(false);
  const [notifies, setNotifies] = useState(false);
  const saving = useSaving();
  const { route } = useLocation();
  const make = () =>
    saving.run(async (key) => {
      const update = { status, description: text, notifySubscribers: notifies };
      const { data } = await api.POST('/v1/status-pages/incidents', {
        params: { header: { 'Idempotency-Key': key } },
        body: { ...form, services: [...form.services], isDraft, incidentUpdates: [update] },
      });
      forgetIncidents();
      onClose();
      route(addressOf(`/incidents/${(data as Incident).id}`));
    });
  return (
    <FormDialog
      title="New incident"
      submit={isDraft ? 'Keep as a draft' : notifies ? 'Publish and notify' : 'Publish'}
      isBusy={saving.isBusy}
      isChanged={form !== NEW || text !== ''}
      onSubmit={() => void make()}
      onClose={onClose}
    >
      <IncidentFields
        form={form}
        problems={saving.problems}
        change={(fields) => setForm({ ...form, ...fields })}
      />
      <SelectField
        label="Status"
        value={status}
        options={STATUSES}
        onValue={(value) => setStatus(value as Status)}
      />
      <UpdateText
        text={text}
        onValue={setText}
        problem={problemOf(saving.problems, 'incidentUpdates.0.description')}
      />
      <CheckField
        label="Draft"
        hint="Only this account sees it, until it is published."
        isChecked={isDraft}
        onValue={setDraft}
      />
      <NotifyField
        services={form.services}
        isDraft={isDraft}
        isChecked={notifies}
        onValue={setNotifies}
      />
      <FormError error={saving.error} fields={[...FIELD_NAMES, 'incidentUpdates.0.description']} />
    </FormDialog>
  );
}

export function UpdateText({
  text,
  onValue,
  problem,
}: {
  readonly text: string;
  readonly onValue: (text: string) => void;
  readonly problem: string | null;
}) {
  return (
    <Field
      label="What readers should know"
      hint="At most 2,000 characters. It is shown as it is written."
      problem={problem}
    >
      {(facts) => (
        <textarea
          {...facts}
          rows={4}
          maxLength={2_000}
          required
          value={text}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

const formOf = ({ name, severity, services }: Incident): IncidentForm => ({
  name,
  severity,
  services,
});

export function EditIncident({
  loaded,
  reload,
  onClose,
}: {
  readonly loaded: Loaded<Incident>;
  readonly reload: Query<unknown>['reload'];
  readonly onClose: () => void;
}) {
  const edited = useEdited({ loaded, formOf, reload });
  const { form, saving } = edited;
  const { id } = loaded.resource;
  const save = async (): Promise<void> => {
    const isSaved = await edited.save(async (sent, etag) => {
      const { data, response } = await api.PATCH('/v1/status-pages/incidents/{incidentId}', {
        params: {
          path: { incidentId: id },
          header: etag === null ? {} : { 'If-Match': etag },
        },
        body: { ...sent, services: [...sent.services] },
      });
      return { resource: data as Incident, etag: response.headers.get('etag') };
    });
    if (!isSaved) return;
    showToast({ kind: 'pass', text: 'The incident is saved.' });
    forgetIncidents();
    onClose();
  };
  return (
    <FormDialog
      title="Edit incident"
      submit="Save"
      isBusy={saving.isBusy}
      isChanged={edited.isChanged}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      <IncidentFields form={form} problems={saving.problems} change={edited.change} />
      {edited.isOutdated ? (
        <Outdated kind="status-page-incident" id={id} what="incident" edited={edited} />
      ) : (
        <FormError error={saving.error} fields={FIELD_NAMES} />
      )}
    </FormDialog>
  );
}
