import type { FieldProblem } from '../../api/errors.ts';
import { ChoicesError } from '../../parts/error-state.tsx';
import { problemOf, SelectField, TextField } from '../../parts/field.tsx';
import { SEVERITIES } from './marks.tsx';
import { type Severity, useServices } from './queries.ts';

export interface IncidentForm {
  readonly name: string;
  readonly severity: Severity;
  readonly services: readonly string[];
}

export const FIELD_NAMES = ['name', 'severity', 'services'];

export function IncidentFields({
  form,
  problems,
  change,
}: {
  readonly form: IncidentForm;
  readonly problems: readonly FieldProblem[];
  readonly change: (fields: Partial<IncidentForm>) => void;
}) {
  return (
    <>
      <TextField
        label="Name"
        value={form.name}
        onValue={(name) => change({ name })}
        hint="What readers notice, for example Payments are slow."
        problem={problemOf(problems, 'name')}
        maxLength={255}
        required
      />
      <SelectField
        label="Impact"
        value={form.severity}
        options={SEVERITIES}
        onValue={(severity) => change({ severity: severity as Severity })}
        problem={problemOf(problems, 'severity')}
      />
      <ServiceChoice
        chosen={form.services}
        onValue={(services) => change({ services })}
        problem={problemOf(problems, 'services')}
      />
    </>
  );
}

function ServiceChoice({
  chosen,
  onValue,
  problem,
}: {
  readonly chosen: readonly string[];
  readonly onValue: (services: readonly string[]) => void;
  readonly problem: string | null;
}) {
  const query = useServices();
  const services = query.data.value;
  const error = query.error.value;
  return (
    <fieldset class="incidents-services">
      <legend>Affected services</legend>
      {services === null && error === null && <p class="hint">Loading the services…</p>}
      {services === null && <ChoicesError what="services" error={error} retry={query.reload} />}
      {services?.size === 0 && (
        <p class="hint">There is no service yet: no page would show the incident.</p>
      )}
      {services !== null && services.size > 0 && (
        <div class="incidents-choices">
          {[...services.values()].map(({ id, name }) => (
            <label key={id}>
              <input
                type="checkbox"
                checked={chosen.includes(id)}
                onChange={(event) =>
                  onValue(
                    event.currentTarget.checked
                      ? [...chosen, id]
                      : chosen.filter((each) => each !== id),
                  )
                }
              />
              <span>{name}</span>
            </label>
          ))}
        </div>
      )}
      {problem !== null && <p class="problem">{problem}</p>}
    </fieldset>
  );
}
