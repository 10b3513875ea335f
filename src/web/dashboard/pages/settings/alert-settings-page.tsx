import { useMemo } from 'preact/hooks';
import { api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';
import { type Query, useQuery } from '../../api/query.ts';
import { may, session } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { CheckField, FormError, problemOf, SelectField, TextField } from '../../parts/field.tsx';
import { useEdited } from '../../parts/forms/use-edited.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { showToast } from '../../parts/toast.tsx';
import { SettingsFrame } from './settings-frame.tsx';

type AlertSettings = components['schemas']['AlertSettings'];
type Minutes = 5 | 10 | 15 | 30;
type Amount = 0 | 1 | 2 | 3 | 4 | 5 | 100_000;
type Interval = 1 | 2 | 3 | 4 | 5 | 10 | 15 | 30;

const options = (values: readonly number[], labelOf: (value: number) => string) =>
  values.map((value) => ({ value: String(value), label: labelOf(value) }));
const RUNS = options([1, 2, 3, 4, 5], (n) =>
  n === 1 ? 'the first failed run' : `${n} failed runs in a row`,
);
const MINUTES = options([5, 10, 15, 30], (n) => `${n} minutes of failing`);
const AMOUNTS = options([0, 1, 2, 3, 4, 5, 100_000], (n) =>
  n === 0 ? 'none' : n === 100_000 ? 'until it recovers' : String(n),
);
const INTERVALS = options([1, 2, 3, 4, 5, 10, 15, 30], (n) =>
  n === 1 ? '1 minute' : `${n} minutes`,
);

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
  const parallel = settings.parallelRunFailureThreshold ?? { enabled: false, percentage: 10 };
  const reminders = settings.reminders ?? { amount: 0, interval: 5 };
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
          <SelectField
            label="Alert after"
            value={settings.escalationType}
            options={[
              { value: 'RUN_BASED', label: 'a number of failed runs' },
              { value: 'TIME_BASED', label: 'a time of failing' },
            ]}
            onValue={(value) =>
              set({ escalationType: value === 'TIME_BASED' ? 'TIME_BASED' : 'RUN_BASED' })
            }
          />
          {settings.escalationType === 'RUN_BASED' ? (
            <SelectField
              label="Number of runs"
              value={String(settings.runBasedEscalation?.failedRunThreshold ?? 1)}
              options={RUNS}
              onValue={(value) =>
                set({ runBasedEscalation: { failedRunThreshold: Number(value) } })
              }
            />
          ) : (
            <SelectField
              label="Time"
              value={String(settings.timeBasedEscalation?.minutesFailingThreshold ?? 5)}
              options={MINUTES}
              onValue={(value) =>
                set({ timeBasedEscalation: { minutesFailingThreshold: Number(value) as Minutes } })
              }
            />
          )}
          <SelectField
            label="Reminders"
            hint="They repeat an alert until the check recovers."
            value={String(reminders.amount)}
            options={AMOUNTS}
            onValue={(value) =>
              set({ reminders: { ...reminders, amount: Number(value) as Amount } })
            }
          />
          {reminders.amount > 0 && (
            <SelectField
              label="Between reminders"
              value={String(reminders.interval)}
              options={INTERVALS}
              onValue={(value) =>
                set({ reminders: { ...reminders, interval: Number(value) as Interval } })
              }
            />
          )}
          <CheckField
            label="Checks in several locations fail only if a share of these fails"
            isChecked={parallel.enabled}
            onValue={(enabled) => set({ parallelRunFailureThreshold: { ...parallel, enabled } })}
          />
          {parallel.enabled && (
            <TextField
              label="Share of the locations, in percent"
              type="number"
              min={10}
              max={100}
              value={String(parallel.percentage)}
              onValue={(value) =>
                set({ parallelRunFailureThreshold: { ...parallel, percentage: Number(value) } })
              }
              problem={problemOf(error?.problems ?? [], 'parallelRunFailureThreshold.percentage')}
            />
          )}
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
