import { useMemo } from 'preact/hooks';
import { api } from '../../api/client.ts';
import { type Query, useQuery } from '../../api/query.ts';
import { FormError, problemOf, SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { LoadedDialog } from '../../parts/forms/loaded-dialog.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { TAGS_HINT } from '../../parts/forms/tags.ts';
import { useEdited } from '../../parts/forms/use-edited.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { showToast } from '../../parts/toast.tsx';
import { zoneText } from './days.ts';
import type { Window } from './occurrences.ts';
import { bodyOf, type Form, forgetWindows, formOf, newForm } from './window-values.ts';

const FIELDS = [
  'name',
  'startsAt',
  'endsAt',
  'repeatInterval',
  'repeatEndsAt',
  'tags',
  'silenceAlertsTags',
];
const REPEATS = [
  { value: 'ONCE', label: 'Once' },
  { value: 'DAY', label: 'Every day, or each number of days' },
  { value: 'WEEK', label: 'Every week, or each number of weeks' },
  { value: 'MONTH', label: 'Every month, or each number of months' },
] as const;
const PAUSED = [
  { value: 'tags', label: 'Checks with a tag' },
  { value: 'all', label: 'All checks' },
  { value: 'none', label: 'No checks' },
] as const;
const SILENCED = [
  { value: 'tags', label: 'Of checks with a tag' },
  { value: 'all', label: 'Of all checks' },
  { value: 'none', label: 'None' },
] as const;

const ON = { on: ['maintenance_window'] };

/** Creates or changes a window. */
export function WindowForm({
  day,
  id = null,
  onClose,
}: {
  /** The day on which a new window begins. */
  readonly day: Date;
  readonly id?: number | null;
  readonly onClose: () => void;
}) {
  if (id === null) return <Editor day={day} loaded={null} query={null} onClose={onClose} />;
  return <ChangeDialog day={day} id={id} onClose={onClose} />;
}

function ChangeDialog({
  day,
  id,
  onClose,
}: {
  readonly day: Date;
  readonly id: number;
  readonly onClose: () => void;
}) {
  const query = useQuery<Loaded<Window>>(
    `maintenance-window ${id}`,
    async (signal) => {
      const { data, response } = await api.GET('/v1/maintenance-windows/{id}', {
        params: { path: { id } },
        signal,
      });
      return { resource: data as Window, etag: response.headers.get('etag') };
    },
    ON,
  );
  return (
    <LoadedDialog title="Edit maintenance window" what="window" query={query} onClose={onClose}>
      {(loaded) => <Editor day={day} loaded={loaded} query={query} onClose={onClose} />}
    </LoadedDialog>
  );
}

function Editor({
  day,
  loaded,
  query,
  onClose,
}: {
  readonly day: Date;
  /** Null: a new one. */
  readonly loaded: Loaded<Window> | null;
  readonly query: Query<Loaded<Window>> | null;
  readonly onClose: () => void;
}) {
  const id = loaded?.resource.id ?? null;
  const initial = useMemo(() => newForm(day), []);
  const edited = useEdited({
    loaded,
    formOf,
    initial,
    ...(query === null ? {} : { reload: query.reload }),
  });
  const { form, saving, change } = edited;
  const { problems } = saving;
  const save = async (): Promise<void> => {
    const isSaved = await edited.save(async (sent, etag, key) => {
      const body = bodyOf(sent);
      if (id === null) {
        const params = { header: { 'Idempotency-Key': key } };
        const { data, response } = await api.POST('/v1/maintenance-windows', { params, body });
        return { resource: data as Window, etag: response.headers.get('etag') };
      }
      const header = etag === null ? {} : { 'If-Match': etag };
      const params = { path: { id }, header };
      const { data, response } = await api.PATCH('/v1/maintenance-windows/{id}', { params, body });
      return { resource: data as Window, etag: response.headers.get('etag') };
    });
    if (!isSaved) return;
    forgetWindows();
    const text = id === null ? 'The window is created.' : 'The window is saved.';
    showToast({ kind: 'pass', text });
    onClose();
  };
  return (
    <FormDialog
      title={id === null ? 'New maintenance window' : 'Edit maintenance window'}
      submit={id === null ? 'Create the window' : 'Save'}
      isBusy={saving.isBusy}
      isChanged={edited.isChanged}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={form.name}
        onValue={(name) => change({ name })}
        hint="Status pages announce the window by it."
        problem={problemOf(problems, 'name')}
        maxLength={200}
        required
      />
      <div class="maintenance-pair">
        <TextField
          label="Starts"
          type="datetime-local"
          value={form.startsAt}
          onValue={(startsAt) => change({ startsAt })}
          problem={problemOf(problems, 'startsAt')}
          required
        />
        <TextField
          label="Ends"
          type="datetime-local"
          value={form.endsAt}
          onValue={(endsAt) => change({ endsAt })}
          problem={problemOf(problems, 'endsAt')}
          required
        />
      </div>
      <p class="hint maintenance-zone">Times are in your zone, {zoneText()}.</p>
      <SelectField
        label="Repeats"
        value={form.unit}
        options={REPEATS}
        hint="It repeats at the same time in UTC: with daylight saving time, your local time differs by an hour for half of the year."
        onValue={(unit) => change({ unit: unit as Form['unit'] })}
      />
      {form.unit !== 'ONCE' && (
        <div class="maintenance-pair">
          <TextField
            label={`Interval in ${form.unit.toLowerCase()}s`}
            type="number"
            min={1}
            value={form.interval}
            onValue={(interval) => change({ interval })}
            problem={problemOf(problems, 'repeatInterval')}
            required
          />
          <TextField
            label="Until (empty: forever)"
            type="datetime-local"
            value={form.until}
            onValue={(until) => change({ until })}
            problem={problemOf(problems, 'repeatEndsAt')}
          />
        </div>
      )}
      <SelectField
        label="Pauses"
        value={form.pauses}
        options={PAUSED}
        onValue={(pauses) => change({ pauses: pauses as Form['pauses'] })}
      />
      {form.pauses === 'tags' && (
        <TextField
          label="Tags of paused checks"
          value={form.tags}
          onValue={(tags) => change({ tags })}
          hint={`${TAGS_HINT} Checks with one of them, or whose group has one.`}
          problem={problemOf(problems, 'tags')}
          autocomplete="off"
        />
      )}
      <SelectField
        label="Silences alerts"
        value={form.silences}
        options={SILENCED}
        onValue={(silences) => change({ silences: silences as Form['silences'] })}
      />
      {form.silences === 'tags' && (
        <TextField
          label="Tags of checks whose alerts are silent"
          value={form.silencedTags}
          onValue={(silencedTags) => change({ silencedTags })}
          hint={TAGS_HINT}
          problem={problemOf(problems, 'silenceAlertsTags')}
          autocomplete="off"
        />
      )}
      {edited.isOutdated ? (
        <Outdated kind="maintenance-window" id={String(id)} what="window" edited={edited} />
      ) : (
        <FormError error={saving.error} fields={FIELDS} />
      )}
    </FormDialog>
  );
}
