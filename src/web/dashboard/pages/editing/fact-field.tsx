import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Field } from '../../parts/field.tsx';
import { useCheckForm } from './check-form.ts';
import { valueAt } from './draft.ts';
import { boundsText, type Facts, factsAt, hintOf, patternOf, unitOf } from './facts.ts';
import { labelOf, wordsOf } from './form-fields.ts';

interface FactFieldProps {
  readonly path: string;
  /** Default: the label in LABELS. */
  readonly label?: string;
  /** `none` if the label is enough. Default: the description in the OpenAPI document. */
  readonly hint?: ComponentChildren | 'none';
  readonly placeholder?: string;
  /** The number of lines of a text area. */
  readonly rows?: number;
  readonly isPassword?: boolean;
  /** Instead of `wordsOf`. */
  readonly wordOf?: (value: string | number) => string;
}

/** A control for one field of the OpenAPI document; shows nothing if the type does not have the field. */
export function FactField(props: FactFieldProps) {
  const { path, hint, wordOf = wordsOf } = props;
  const form = useCheckForm();
  const facts = factsAt(form.type, path);
  if (facts === null) return null;
  const given = valueAt(form.draft, path);
  const value = given === undefined ? (facts.default ?? null) : given;
  const label = props.label ?? labelOf(path);
  const problem = form.problemAt(path);
  const text = hint === 'none' ? undefined : (hint ?? defaultHint(path, facts));
  if (facts.kind === 'boolean') {
    return (
      <div class="field check" data-field={patternOf(path)}>
        <label>
          <input
            type="checkbox"
            checked={value === true}
            aria-invalid={problem === null ? undefined : true}
            onChange={(event) => form.change(path, event.currentTarget.checked)}
          />
          <span>{label}</span>
        </label>
        {text !== undefined && <p class="hint">{text}</p>}
        {problem !== null && <p class="problem">{problem}</p>}
      </div>
    );
  }
  return (
    <div data-field={patternOf(path)}>
      <Field label={label} hint={text} problem={problem}>
        {(at) => {
          if (facts.values !== undefined) {
            return (
              <Choice
                {...at}
                facts={facts}
                value={value}
                wordOf={wordOf}
                onValue={(next) => form.change(path, next)}
              />
            );
          }
          if (facts.kind !== 'string') {
            return (
              <span class="editing-number">
                <NumberControl
                  {...at}
                  facts={facts}
                  value={value}
                  placeholder={props.placeholder}
                  onValue={(next) => form.change(path, next)}
                />
                {unitOf(path, facts)}
              </span>
            );
          }
          return <TextControl {...at} {...props} facts={facts} value={value} />;
        }}
      </Field>
    </div>
  );
}

/** The description in the OpenAPI document, with code in backticks as code; undefined without one. */
function defaultHint(path: string, facts: Facts): ComponentChildren | undefined {
  const parts = [
    hintOf(facts),
    facts.kind === 'string' ? '' : boundsText(facts, unitOf(path, facts)),
  ];
  const text = parts.filter((part) => part !== '').join(' ');
  return text === '' ? undefined : <Code text={text} />;
}

/** A text with code in backticks. */
export function Code({ text }: { readonly text: string }) {
  return (
    <>{text.split('`').map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>))}</>
  );
}

type At = Readonly<Record<string, unknown>>;

/** Also shows a value that is not one of the choices: the API reports the problem. */
export function Choice({
  facts,
  value,
  wordOf,
  onValue,
  ...at
}: At & {
  readonly facts: Facts;
  readonly value: unknown;
  readonly wordOf: (value: string | number) => string;
  readonly onValue: (value: string | number | null) => void;
}) {
  const values = facts.values ?? [];
  const isKnown = values.some((each) => each === value);
  return (
    <select
      {...at}
      value={value === null ? '' : String(value)}
      onChange={({ currentTarget }) =>
        onValue(values.find((each) => String(each) === currentTarget.value) ?? null)
      }
    >
      {!isKnown && <option value={value === null ? '' : String(value)}>{shownText(value)}</option>}
      {values.map((each) => (
        <option key={each} value={String(each)}>
          {wordOf(each)}
        </option>
      ))}
    </select>
  );
}

/** Empty means null, or the default where null is not allowed. */
function NumberControl({
  facts,
  value,
  onValue,
  ...at
}: At & {
  readonly facts: Facts;
  readonly value: unknown;
  readonly onValue: (value: unknown) => void;
}) {
  const isNullable = facts.isNullable === true;
  const [text, setText] = useTyped(shownText(value), (typed) =>
    typed === '' ? shownText(isNullable ? null : facts.default) : String(Number(typed)),
  );
  return (
    <input
      {...at}
      type="number"
      step={facts.kind === 'integer' ? 1 : 'any'}
      min={facts.min}
      max={facts.max}
      value={text}
      onInput={({ currentTarget: { value: typed } }) => {
        setText(typed);
        onValue(typed !== '' ? Number(typed) : isNullable ? null : undefined);
      }}
    />
  );
}

/** Keeps the typed text as long as it means the value, such as `1.0` while `1.05` is typed. */
export function useTyped(
  value: string,
  meaningOf: (typed: string) => string,
): readonly [string, (typed: string) => void] {
  const [typed, setTyped] = useState(value);
  useEffect(() => {
    if (meaningOf(typed) !== value) setTyped(value);
  }, [value]);
  return [typed, setTyped];
}

function TextControl({
  facts,
  value,
  path,
  placeholder,
  rows,
  isPassword = false,
  label: _,
  hint: __,
  wordOf: ___,
  ...at
}: FactFieldProps & { readonly facts: Facts; readonly value: unknown }) {
  const form = useCheckForm();
  const shared = {
    ...at,
    placeholder,
    value: shownText(value),
    spellcheck: false,
    autocomplete: isPassword ? 'new-password' : 'off',
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) =>
      form.change(
        path,
        currentTarget.value === '' && facts.isNullable === true ? null : currentTarget.value,
      ),
  };
  if (rows !== undefined) return <textarea {...shared} rows={rows} class="editing-code" />;
  return <input {...shared} {...(isPassword ? { type: 'password' } : { type: 'text' })} />;
}

/** Shows any value from YAML: a text, a number, or JSON. */
export function shownText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
