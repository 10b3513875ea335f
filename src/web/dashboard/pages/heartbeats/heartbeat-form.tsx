import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api } from '../../api/client.ts';
import type { FieldProblem } from '../../api/errors.ts';
import type { Query } from '../../api/query.ts';
import { Field, FormError, problemOf, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { TAGS_HINT } from '../../parts/forms/tags.ts';
import { useEdited } from '../../parts/forms/use-edited.ts';
import { type Loaded, useSaving } from '../../parts/forms/use-saving.ts';
import { showToast } from '../../parts/toast.tsx';
import { addressOf } from '../../shell/link.tsx';
import { HeartbeatAlerts } from './heartbeat-alerts.tsx';
import {
  bodyOf,
  formOf,
  type HeartbeatForm,
  type HeartbeatUnit,
  NEW_HEARTBEAT,
} from './heartbeat-fields.ts';
import { forgetHeartbeats, type Heartbeat } from './queries.ts';

const UNITS: readonly { readonly value: HeartbeatUnit; readonly label: string }[] = [
  { value: 'SECONDS', label: 'seconds' },
  { value: 'MINUTES', label: 'minutes' },
  { value: 'HOURS', label: 'hours' },
  { value: 'DAYS', label: 'days' },
];

const FIELDS = ['name', 'heartbeat.period', 'heartbeat.grace', 'tags', 'description'];

export function NewHeartbeat({ onClose }: { readonly onClose: () => void }) {
  const [form, setForm] = useState(NEW_HEARTBEAT);
  const [isChanged, setChanged] = useState(false);
  const saving = useSaving();
  const { route } = useLocation();
  const make = () =>
    saving.run(async (key) => {
      const { data } = await api.POST('/v1/checks/heartbeats', {
        params: {
          query: { autoAssignAlerts: form.channels === null },
          header: { 'Idempotency-Key': key },
        },
        body: bodyOf(form),
      });
      forgetHeartbeats();
      onClose();
      route(addressOf(`/heartbeats/${encodeURIComponent((data as Heartbeat).id)}`));
    });
  return (
    <FormDialog
      title="New heartbeat"
      submit="Create the heartbeat"
      isBusy={saving.isBusy}
      isChanged={isChanged}
      onSubmit={() => void make()}
      onClose={onClose}
    >
      <Fields
        form={form}
        problems={saving.problems}
        change={(fields) => {
          setForm({ ...form, ...fields });
          setChanged(true);
        }}
      />
      <FormError error={saving.error} fields={FIELDS} />
    </FormDialog>
  );
}

export function EditHeartbeat({
  loaded,
  reload,
  onClose,
}: {
  readonly loaded: Loaded<Heartbeat>;
  readonly reload: Query<unknown>['reload'];
  readonly onClose: () => void;
}) {
  const edited = useEdited({ loaded, formOf, reload });
  const { form, saving } = edited;
  const { id } = loaded.resource;
  const save = async (): Promise<void> => {
    const isSaved = await edited.save(async (sent, etag) => {
      const { data, response } = await api.PATCH('/v1/checks/heartbeats/{id}', {
        params: { path: { id }, header: etag === null ? {} : { 'If-Match': etag } },
        body: bodyOf(sent),
      });
      return { resource: data as Heartbeat, etag: response.headers.get('etag') };
    });
    if (!isSaved) return;
    showToast({ kind: 'pass', text: 'The heartbeat is saved.' });
    forgetHeartbeats();
    onClose();
  };
  return (
    <FormDialog
      title="Edit heartbeat"
      submit="Save"
      isBusy={saving.isBusy}
      isChanged={edited.isChanged}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      <Fields form={form} problems={saving.problems} change={edited.change} />
      {edited.isOutdated ? (
        <Outdated kind="check" id={id} what="heartbeat" edited={edited} />
      ) : (
        <FormError error={saving.error} fields={FIELDS} />
      )}
    </FormDialog>
  );
}

function Fields({
  form,
  problems,
  change,
}: {
  readonly form: HeartbeatForm;
  readonly problems: readonly FieldProblem[];
  readonly change: (fields: Partial<HeartbeatForm>) => void;
}) {
  return (
    <>
      <TextField
        label="Name"
        value={form.name}
        onValue={(name) => change({ name })}
        hint="The job, for example Nightly backup."
        problem={problemOf(problems, 'name')}
        maxLength={255}
        required
      />
      <AmountField
        label="A ping is expected every"
        hint="From 30 seconds to 365 days. The period runs from each ping."
        problem={problemOf(problems, 'heartbeat.period')}
        amount={form.period}
        unit={form.periodUnit}
        min={1}
        onValue={(period, periodUnit) => change({ period, periodUnit })}
      />
      <AmountField
        label="It may be late by"
        hint="The grace. You are alerted when it is over."
        problem={problemOf(problems, 'heartbeat.grace')}
        amount={form.grace}
        unit={form.graceUnit}
        min={0}
        onValue={(grace, graceUnit) => change({ grace, graceUnit })}
      />
      <TextField
        label="Tags"
        value={form.tags}
        onValue={(tags) => change({ tags })}
        hint={`${TAGS_HINT} Maintenance windows and status services choose by tags.`}
        problem={problemOf(problems, 'tags')}
        autocomplete="off"
      />
      <TextField
        label="Description"
        value={form.description}
        onValue={(description) => change({ description })}
        problem={problemOf(problems, 'description')}
        maxLength={500}
      />
      <HeartbeatAlerts form={form} problems={problems} change={change} />
    </>
  );
}

function AmountField({
  label,
  hint,
  problem,
  amount,
  unit,
  min,
  onValue,
}: {
  readonly label: string;
  readonly hint: string;
  readonly problem: string | null;
  readonly amount: string;
  readonly unit: HeartbeatUnit;
  readonly min: number;
  readonly onValue: (amount: string, unit: HeartbeatUnit) => void;
}) {
  return (
    <Field label={label} hint={hint} problem={problem}>
      {(facts) => (
        <div class="heartbeats-amount">
          <input
            {...facts}
            type="number"
            inputMode="numeric"
            min={min}
            required
            value={amount}
            onInput={(event) => onValue(event.currentTarget.value, unit)}
          />
          <select
            aria-label={`${label}: unit`}
            value={unit}
            onChange={(event) => onValue(amount, event.currentTarget.value as HeartbeatUnit)}
          >
            {UNITS.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </div>
      )}
    </Field>
  );
}
