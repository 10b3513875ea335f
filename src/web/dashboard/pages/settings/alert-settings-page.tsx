import { api } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { type Query, useQuery } from '../../api/query.ts';
import { may, session } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { FormError } from '../../parts/field.tsx';
import { Outdated } from '../../parts/forms/outdated.tsx';
import { useEdited } from '../../parts/forms/use-edited.ts';
import type { Loaded } from '../../parts/forms/use-saving.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { showToast } from '../../parts/toast.tsx';
import { AlertSettingsFields } from './alert-settings-fields.tsx';
import { EscalationFields } from './escalation-fields.tsx';
import { SettingsFrame } from './settings-frame.tsx';

type AlertSettings = components['schemas']['AccountAlertSettings'];

/** The alert settings of checks that use the settings of the account. */
export function Page() {
  const accountId = session.value.account?.id ?? '';
  const query = useQuery<Loaded<AlertSettings>>(`alert-settings/${accountId}`, (signal) =>
    read(accountId, signal),
  );
  const data = query.data.value;
  const error = query.error.value;
  return (
    <SettingsFrame current="settingsAlerts" title="Alert settings">
      <p class="settings-lead muted">
        They apply to checks and groups that use the settings of the account, from the next run.
      </p>
      {error !== null && <ErrorState error={error} retry={query.reload} />}
      {data === null && error === null && (
        <div class="panel">
          <Skeleton lines={6} height={40} />
        </div>
      )}
      {data !== null && <Form accountId={accountId} loaded={data} query={query} />}
    </SettingsFrame>
  );
}

async function read(accountId: string, signal: AbortSignal): Promise<Loaded<AlertSettings>> {
  const params = { path: { accountId } };
  const reply = await api.GET('/v1/accounts/{accountId}/alert-settings', { params, signal });
  return { resource: reply.data as AlertSettings, etag: reply.response.headers.get('etag') };
}

const formOf = (settings: AlertSettings): AlertSettings => settings;
const FIELDS = [
  'parallelRunFailureThreshold.percentage',
  'escalationStep.minutes',
  'escalationStep.alertChannelIds',
];

function Form({
  accountId,
  loaded,
  query,
}: {
  readonly accountId: string;
  readonly loaded: Loaded<AlertSettings>;
  readonly query: Query<Loaded<AlertSettings>>;
}) {
  const edited = useEdited<AlertSettings, AlertSettings>({ loaded, formOf, reload: query.reload });
  const { form: settings, change: set } = edited;
  const { error, isBusy } = edited.saving;
  const save = async (): Promise<void> => {
    const isSaved = await edited.save(async (sent, etag) => {
      const header = etag === null ? {} : { 'If-Match': etag };
      const { data, response } = await api.PUT('/v1/accounts/{accountId}/alert-settings', {
        params: { path: { accountId }, header },
        body: sent,
      });
      const saved = { resource: data as AlertSettings, etag: response.headers.get('etag') };
      query.set(saved);
      return saved;
    });
    if (isSaved) showToast({ kind: 'pass', text: 'The alert settings are saved.' });
  };
  return (
    <section class="panel" aria-label="Alert settings">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <fieldset class="panel-body settings-form" disabled={!may('admin')}>
          <legend class="visually-hidden">When alerts are sent</legend>
          <AlertSettingsFields settings={settings} problems={edited.saving.problems} change={set} />
          <EscalationFields
            step={settings.escalationStep}
            problems={edited.saving.problems}
            change={(escalationStep) => set({ escalationStep })}
          />
          {edited.isOutdated ? (
            <Outdated
              kind="alert-settings"
              id={accountId}
              what="account's alert settings"
              edited={edited}
            />
          ) : (
            <FormError error={error} fields={FIELDS} />
          )}
          {may('admin') ? (
            <span>
              <Button kind="primary" type="submit" isBusy={isBusy} disabled={!edited.isChanged}>
                Save
              </Button>
            </span>
          ) : (
            <p class="muted">Only admins of the account change them.</p>
          )}
        </fieldset>
      </form>
    </section>
  );
}
