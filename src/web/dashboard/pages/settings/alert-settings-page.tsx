import { useMemo } from 'preact/hooks';
import { api, bodyOf } from '../../api/client.ts';
import { type Query, useQuery } from '../../api/query.ts';
import { may, session } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { FormError } from '../../parts/field.tsx';
import { useEdited } from '../../parts/forms/use-edited.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { showToast } from '../../parts/toast.tsx';
import { type AlertSettings, AlertSettingsFields } from './alert-settings-fields.tsx';
import { SettingsFrame } from './settings-frame.tsx';

/** When alerts are sent for checks that use the settings of the account. */
export function Page() {
  const accountId = session.value.account?.id ?? '';
  const query = useQuery(`alert-settings/${accountId}`, (signal) =>
    bodyOf(
      api.GET('/v1/accounts/{accountId}/alert-settings', {
        params: { path: { accountId } },
        signal,
      }),
    ),
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
      {data !== null && <Form accountId={accountId} given={data} query={query} />}
    </SettingsFrame>
  );
}

const formOf = (settings: AlertSettings): AlertSettings => settings;
const FIELDS = ['parallelRunFailureThreshold.percentage'];

function Form({
  accountId,
  given,
  query,
}: {
  readonly accountId: string;
  readonly given: AlertSettings;
  readonly query: Query<AlertSettings>;
}) {
  // They have no ETag: the last one who saves them wins.
  const loaded = useMemo(() => ({ resource: given, etag: null }), [given]);
  const edited = useEdited<AlertSettings, AlertSettings>({ loaded, formOf });
  const { form: settings, change: set } = edited;
  const { error, isBusy } = edited.saving;
  const save = async (): Promise<void> => {
    const isSaved = await edited.save(async (sent) => {
      const params = { path: { accountId } };
      const saved = await bodyOf(
        api.PUT('/v1/accounts/{accountId}/alert-settings', { params, body: sent }),
      );
      query.set(saved);
      return { resource: saved, etag: null };
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
          <FormError error={error} fields={FIELDS} />
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
