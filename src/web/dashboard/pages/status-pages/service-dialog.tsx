import { api } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { type Query, useQuery } from '../../api/query.ts';
import { CheckField, FormError, problemOf, SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { LoadedDialog } from '../../parts/forms/loaded-dialog.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { TAGS_HINT, tagsIn, tagsText } from '../../parts/forms/tags.ts';
import { useEdited } from '../../parts/forms/use-edited.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { showToast } from '../../parts/toast.tsx';
import { CheckChoice } from './check-choice.tsx';
import { forgetPages } from './queries.ts';

type Service = components['schemas']['StatusPageService'];

interface Form {
  readonly name: string;
  readonly checkIds: readonly string[];
  readonly heartbeatIds: readonly string[];
  /** As `tagsText` writes them. */
  readonly checkTags: string;
  readonly failureRule: Service['failureRule'];
  readonly failureLocations: string;
  readonly showUptime: boolean;
}

const FIELDS = ['name', 'checkTags', 'failureLocations'];
const LABELS: Readonly<Record<string, string>> = {
  checkIds: 'checks',
  heartbeatIds: 'heartbeats',
  checkTags: 'tags',
  failureRule: 'outage',
  failureLocations: 'locations',
  showUptime: 'availability',
};
const RULES = [
  { value: 'ANY', label: 'when one check fails' },
  { value: 'ALL', label: 'when all checks fail' },
  { value: 'LOCATIONS', label: 'when one fails in several locations' },
] as const;

function formOf(service: Service): Form {
  return {
    name: service.name,
    checkIds: service.checkIds,
    heartbeatIds: service.heartbeatIds,
    checkTags: tagsText(service.checkTags),
    failureRule: service.failureRule,
    failureLocations: String(service.failureLocations ?? 2),
    showUptime: service.showUptime,
  };
}

function bodyOf({ checkTags, failureRule, failureLocations, ...form }: Form) {
  return {
    ...form,
    name: form.name.trim(),
    checkIds: [...form.checkIds],
    heartbeatIds: [...form.heartbeatIds],
    checkTags: tagsIn(checkTags),
    failureRule,
    failureLocations: failureRule === 'LOCATIONS' ? Number(failureLocations) : null,
  };
}

/** The checks of a service of status pages, and the rule for its outages. */
export function ServiceDialog({
  id,
  onClose,
}: {
  readonly id: string;
  readonly onClose: () => void;
}) {
  const query = useQuery<Loaded<Service>>(
    `status page service ${id}`,
    async (signal) => {
      const { data, response } = await api.GET('/v1/status-pages/services/{serviceId}', {
        params: { path: { serviceId: id } },
        signal,
      });
      return { resource: data as Service, etag: response.headers.get('etag') };
    },
    { on: ['status_page_service'] },
  );
  return (
    <LoadedDialog title="Edit service" what="service" query={query} onClose={onClose}>
      {(loaded) => <Editor loaded={loaded} reload={query.reload} onClose={onClose} />}
    </LoadedDialog>
  );
}

function Editor({
  loaded,
  reload,
  onClose,
}: {
  readonly loaded: Loaded<Service>;
  readonly reload: Query<unknown>['reload'];
  readonly onClose: () => void;
}) {
  const edited = useEdited({ loaded, formOf, reload });
  const { form, saving, change } = edited;
  const { id } = loaded.resource;
  const save = async (): Promise<void> => {
    const isSaved = await edited.save(async (sent, etag) => {
      const { data, response } = await api.PATCH('/v1/status-pages/services/{serviceId}', {
        params: {
          path: { serviceId: id },
          header: etag === null ? {} : { 'If-Match': etag },
        },
        body: bodyOf(sent),
      });
      return { resource: data as Service, etag: response.headers.get('etag') };
    });
    if (!isSaved) return;
    forgetPages();
    showToast({ kind: 'pass', text: 'The service is saved, on all pages that show it.' });
    onClose();
  };
  return (
    <FormDialog
      title={`Edit ${loaded.resource.name}`}
      submit="Save"
      isBusy={saving.isBusy}
      isChanged={edited.isChanged}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={form.name}
        onValue={(name) => change({ name })}
        hint="All pages that have the service show it by this name."
        problem={problemOf(saving.problems, 'name')}
        maxLength={255}
        required
      />
      <CheckChoice
        legend="Checks that measure it"
        types={['URL', 'API', 'TCP', 'DNS', 'ICMP']}
        chosen={form.checkIds}
        onValue={(checkIds) => change({ checkIds })}
      />
      <CheckChoice
        legend="Heartbeats that measure it"
        types={['HEARTBEAT']}
        chosen={form.heartbeatIds}
        onValue={(heartbeatIds) => change({ heartbeatIds })}
      />
      <TextField
        label="Tags"
        value={form.checkTags}
        onValue={(checkTags) => change({ checkTags })}
        hint={`All checks and heartbeats with one of them, or whose group has one, measure it, too. ${TAGS_HINT}`}
        problem={problemOf(saving.problems, 'checkTags')}
        autocomplete="off"
      />
      <SelectField
        label="It has an outage"
        value={form.failureRule}
        options={RULES}
        hint={
          form.failureRule === 'ALL'
            ? 'If fewer fail, it is degraded.'
            : 'A partial outage, and a major one when all checks fail.'
        }
        onValue={(rule) => change({ failureRule: rule as Form['failureRule'] })}
      />
      {form.failureRule === 'LOCATIONS' && (
        <TextField
          label="Number of locations"
          type="number"
          min={1}
          value={form.failureLocations}
          onValue={(failureLocations) => change({ failureLocations })}
          hint="A check with fewer locations must fail in all of them."
          problem={problemOf(saving.problems, 'failureLocations')}
          required
        />
      )}
      <CheckField
        label="Show its availability of the last 90 days"
        isChecked={form.showUptime}
        onValue={(showUptime) => change({ showUptime })}
      />
      {edited.isOutdated ? (
        <Outdated
          kind="status-page-service"
          id={id}
          what="service"
          edited={edited}
          labelOf={(name) => LABELS[name] ?? name}
        />
      ) : (
        <FormError error={saving.error} fields={FIELDS} />
      )}
    </FormDialog>
  );
}
