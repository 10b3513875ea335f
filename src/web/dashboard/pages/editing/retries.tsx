import { Field } from '../../parts/field.tsx';
import { useCheckForm } from './check-form.ts';
import { valueAt } from './draft.ts';
import { Code, FactField } from './fact-field.tsx';
import { factsAt } from './facts.ts';
import { labelOf, wordsOf } from './form-fields.ts';
import { Section } from './section.tsx';

const DEFAULT = 'default';

/** How a failed run is retried. Without a strategy `doubleCheck` decides. */
export function Retries() {
  const { type, draft, change, problemAt } = useCheckForm();
  const facts = factsAt(type, 'retryStrategy.type');
  const strategy = valueAt(draft, 'retryStrategy');
  const isDouble = (valueAt(draft, 'doubleCheck') ?? true) === true;
  const value =
    strategy === undefined
      ? isDouble
        ? DEFAULT
        : 'NO_RETRIES'
      : strategy === null
        ? 'NO_RETRIES'
        : String(valueAt(strategy, 'type'));
  const set = (next: string): void => {
    if (next !== DEFAULT) {
      change('retryStrategy', { ...(strategy ?? {}), type: next });
      return;
    }
    change('retryStrategy', undefined);
    change('doubleCheck', true);
  };
  const isHttp = type === 'URL' || type === 'API';
  const hasDelay = value !== 'NO_RETRIES' && value !== DEFAULT;
  return (
    <Section title="Retries">
      <div class="editing-wide" data-field="retryStrategy.type">
        <Field
          label={labelOf('retryStrategy.type')}
          hint={hasDelay ? <Code text={facts?.text ?? ''} /> : undefined}
          problem={problemAt('retryStrategy.type') ?? problemAt('retryStrategy')}
        >
          {(at) => (
            <select {...at} value={value} onChange={(event) => set(event.currentTarget.value)}>
              <option value={DEFAULT}>once and at once, in another location if there is one</option>
              {(facts?.values ?? []).map((each) => (
                <option key={each} value={each}>
                  {wordsOf(each)}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      {hasDelay && (
        <>
          <FactField path="retryStrategy.baseBackoffSeconds" />
          {value !== 'SINGLE_RETRY' && <FactField path="retryStrategy.maxRetries" />}
          <FactField path="retryStrategy.maxDurationSeconds" />
          <FactField path="retryStrategy.sameRegion" />
          {isHttp && <OnlyOn />}
        </>
      )}
    </Section>
  );
}

/** A checkbox for a list of at most one value. */
function OnlyOn() {
  const { type, draft, change, problemAt } = useCheckForm();
  const path = 'retryStrategy.onlyOn';
  const [cause] = factsAt(type, `${path}[]`)?.values ?? [];
  const value = valueAt(draft, path);
  const problem = problemAt(path);
  return (
    <div class="field check" data-field={path}>
      <label>
        <input
          type="checkbox"
          checked={Array.isArray(value) && value.length > 0}
          aria-invalid={problem === null ? undefined : true}
          onChange={(event) => change(path, event.currentTarget.checked ? [cause] : null)}
        />
        <span>{labelOf(path)}</span>
      </label>
      <p class="hint">
        <Code text={factsAt(type, path)?.text ?? ''} />
      </p>
      {problem !== null && <p class="problem">{problem}</p>}
    </div>
  );
}
