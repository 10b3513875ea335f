import type { FieldProblem } from '../../api/errors.ts';
import type { components } from '../../api/openapi.d.ts';
import { CheckField, problemOf, SelectField, TextField } from '../../parts/field.tsx';
import { boundsOf, limits } from '../../parts/forms/limits.ts';

export type AlertSettings = components['schemas']['AlertSettings'];
type Minutes = 5 | 10 | 15 | 30;
type Amount = 0 | 1 | 2 | 3 | 4 | 5 | 100_000;
type Interval = 1 | 2 | 3 | 4 | 5 | 10 | 15 | 30;

const SHARE = limits.alertSettings.percentage;

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

/** When a failure sends alerts, and how often they are repeated. */
export function AlertSettingsFields({
  settings,
  problems,
  path = '',
  hasLocations = true,
  change,
}: {
  readonly settings: AlertSettings;
  readonly problems: readonly FieldProblem[];
  /** The path of the settings in the body, such as `alertSettings.`. */
  readonly path?: string;
  /** Heartbeats have none. */
  readonly hasLocations?: boolean;
  readonly change: (fields: Partial<AlertSettings>) => void;
}) {
  const parallel = settings.parallelRunFailureThreshold ?? {
    enabled: false,
    percentage: SHARE.default,
  };
  const reminders = settings.reminders ?? { amount: 0, interval: 5 };
  return (
    <>
      <SelectField
        label="Alert after"
        value={settings.escalationType}
        options={[
          { value: 'RUN_BASED', label: 'a number of failed runs' },
          { value: 'TIME_BASED', label: 'a time of failing' },
        ]}
        onValue={(value) =>
          change({ escalationType: value === 'TIME_BASED' ? 'TIME_BASED' : 'RUN_BASED' })
        }
      />
      {settings.escalationType === 'RUN_BASED' ? (
        <SelectField
          label="Number of runs"
          value={String(settings.runBasedEscalation?.failedRunThreshold ?? 1)}
          options={RUNS}
          onValue={(value) => change({ runBasedEscalation: { failedRunThreshold: Number(value) } })}
        />
      ) : (
        <SelectField
          label="Time"
          value={String(settings.timeBasedEscalation?.minutesFailingThreshold ?? 5)}
          options={MINUTES}
          onValue={(value) =>
            change({ timeBasedEscalation: { minutesFailingThreshold: Number(value) as Minutes } })
          }
        />
      )}
      <SelectField
        label="Reminders"
        hint="They repeat an alert until the check recovers."
        value={String(reminders.amount)}
        options={AMOUNTS}
        onValue={(value) =>
          change({ reminders: { ...reminders, amount: Number(value) as Amount } })
        }
      />
      {reminders.amount > 0 && (
        <SelectField
          label="Between reminders"
          value={String(reminders.interval)}
          options={INTERVALS}
          onValue={(value) =>
            change({ reminders: { ...reminders, interval: Number(value) as Interval } })
          }
        />
      )}
      {hasLocations && (
        <CheckField
          label="Checks in several locations fail only if a share of these fails"
          isChecked={parallel.enabled}
          onValue={(enabled) => change({ parallelRunFailureThreshold: { ...parallel, enabled } })}
        />
      )}
      {hasLocations && parallel.enabled && (
        <TextField
          label="Share of the locations, in percent"
          type="number"
          hint={`From ${SHARE.min} to ${SHARE.max}.`}
          {...boundsOf(SHARE)}
          value={String(parallel.percentage)}
          onValue={(value) =>
            change({ parallelRunFailureThreshold: { ...parallel, percentage: Number(value) } })
          }
          problem={problemOf(problems, `${path}parallelRunFailureThreshold.percentage`)}
        />
      )}
    </>
  );
}
