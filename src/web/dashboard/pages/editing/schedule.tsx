import type { SUB_MINUTE_OFFSETS } from '../../../../model/schedule/frequency.ts';
import { api, pageOf } from '../../api/client.ts';
import { useQuery } from '../../api/query.ts';
import { ErrorState } from '../../parts/error-state.tsx';
import { Field } from '../../parts/field.tsx';
import { counted, duration } from '../../parts/formats.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Link } from '../../shell/link.tsx';
import { useCheckForm } from './check-form.ts';
import { Choices } from './choices.tsx';
import { listAt, valueAt } from './draft.ts';
import { FactField } from './fact-field.tsx';
import { factsAt } from './facts.ts';
import { labelOf } from './form-fields.ts';
import { Section } from './section.tsx';

/** The seconds between runs if `frequency` is 0. The OpenAPI document has them only in a description. */
const SECONDS = Object.keys({
  10: true,
  20: true,
  30: true,
} satisfies Record<(typeof SUB_MINUTE_OFFSETS)[number], true>);
const LIMITED =
  'Only API and TCP checks run every few seconds, unless the operator of the service allows it for all (ALLOW_SUBMINUTE).';
const MINUTE_MS = 60_000;

/** When and where the check runs. */
export function Schedule() {
  const { draft } = useCheckForm();
  return (
    <Section title="Schedule and locations">
      <Every />
      <FactField path="activated" hint="none" />
      <div class="editing-wide">
        <Locations />
      </div>
      <FactField path="runParallel" />
      {valueAt(draft, 'frequency') !== 0 && <FactField path="frequencyOffset" />}
    </Section>
  );
}

/** Minutes, or the seconds in `frequencyOffset` if the minutes are 0. */
function Every() {
  const { type, draft, change, problemAt } = useCheckForm();
  const facts = factsAt(type, 'frequency');
  const minutes = valueAt(draft, 'frequency') ?? facts?.default;
  const offset = valueAt(draft, 'frequencyOffset') ?? null;
  const isSeconds = minutes === 0;
  const value = isSeconds ? `${String(offset)} s` : String(minutes);
  const options = [
    ...SECONDS.map((each) => ({ value: `${each} s`, label: `${each} s` })),
    ...(facts?.values ?? [])
      .filter((each) => each !== 0)
      .map((each) => ({ value: String(each), label: duration(Number(each) * MINUTE_MS) })),
  ];
  const set = (text: string): void => {
    const inSeconds = /^(\d+) s$/.exec(text);
    change('frequency', inSeconds === null ? Number(text) : 0);
    if (inSeconds !== null) change('frequencyOffset', Number(inSeconds[1]));
    else if (isSeconds) change('frequencyOffset', null);
  };
  const isLimited = isSeconds && type !== 'API' && type !== 'TCP';
  const problem = problemAt('frequency') ?? (isSeconds ? problemAt('frequencyOffset') : null);
  return (
    <div data-field="frequency">
      <Field label={labelOf('frequency')} hint={isLimited ? LIMITED : undefined} problem={problem}>
        {(at) => (
          <select {...at} value={value} onChange={(event) => set(event.currentTarget.value)}>
            {!options.some((option) => option.value === value) && (
              <option value={value}>
                {isSeconds ? `${String(offset)} s` : duration(Number(minutes) * MINUTE_MS)}
              </option>
            )}
            {options.map((option) => (
              <option key={option.value} value={option.value}>
                {option.label}
              </option>
            ))}
          </select>
        )}
      </Field>
    </div>
  );
}

const SHOWN = 100;

/** The private locations to choose from. */
export function useLocations() {
  return useQuery(
    'private-locations to choose',
    (signal) =>
      pageOf(api.GET('/v1/private-locations', { params: { query: { limit: SHOWN } }, signal })),
    { on: ['location'] },
  );
}

function Locations() {
  const { draft, change, problemAt } = useCheckForm();
  const query = useLocations();
  const found = query.data.value;
  const error = query.error.value;
  const chosen = listAt(draft, 'privateLocations').map(String);
  const problem = problemAt('privateLocations') ?? problemAt('locations');
  if (found === null) {
    return error === null ? (
      <Skeleton lines={3} label="Loading locations" />
    ) : (
      <ErrorState error={error} retry={query.reload} />
    );
  }
  const known = found.entries.map(({ slug, name }) => ({
    value: slug,
    label: name === slug ? slug : `${name} (${slug})`,
  }));
  const more = (found.total ?? 0) - found.entries.length;
  return (
    <Choices
      field="privateLocations"
      legend={labelOf('privateLocations')}
      choices={known}
      chosen={chosen}
      problem={problem}
      onChange={(slugs) => change('privateLocations', slugs.length === 0 ? null : slugs)}
      empty={
        <>
          There are no locations yet. <Link to="/locations">Create one</Link>: its agent runs the
          check.
        </>
      }
      note={more > 0 ? `${counted(more, 'more location')}: name them in the YAML.` : null}
    />
  );
}

/** The response times from which on a run is degraded or fails. */
export function Thresholds() {
  return (
    <Section title="Thresholds">
      <FactField path="degradedResponseTime" />
      <FactField path="maxResponseTime" />
      <FactField path="degradedPacketLossThreshold" />
      <FactField path="maxPacketLossThreshold" />
    </Section>
  );
}
