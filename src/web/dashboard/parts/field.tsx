import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { ApiError, FieldProblem } from '../api/errors.ts';
import { Copyable } from './copyable.tsx';
import { Advice } from './error-state.tsx';

/** The problem that the API reports for a field: `name` finds the problem of `body.name`. */
export function problemOf(problems: readonly FieldProblem[], name: string): string | null {
  const path = `body.${name}`;
  const found = problems.find((each) => each.path === path || each.path === name);
  return found?.message ?? null;
}

export interface FieldFacts {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** The problem of the value; null or omitted if there is none. */
  readonly problem?: string | null;
  /** Renders the control with the attributes that link it to label, hint and problem. */
  readonly children: (facts: FieldFacts) => ComponentChildren;
}

/** A label, a control, its hint and its problem. */
export function Field({ label, hint, problem = null, children }: FieldProps) {
  const id = useId();
  const described = [
    hint === undefined ? null : `${id}-hint`,
    problem === null ? null : `${id}-problem`,
  ].filter((each) => each !== null);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-describedby': described.length === 0 ? undefined : described.join(' '),
        'aria-invalid': problem === null ? undefined : true,
      })}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem !== null && (
        <p class="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  );
}

type TextFieldProps = Omit<FieldProps, 'children'> & {
  readonly value: string;
  readonly onValue: (value: string) => void;
  /** Default: text. */
  readonly type?:
    | 'text'
    | 'url'
    | 'email'
    | 'number'
    | 'password'
    | 'date'
    | 'datetime-local'
    | 'time';
  readonly placeholder?: string;
  readonly autocomplete?: string;
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly min?: number | string;
  readonly max?: number | string;
  readonly step?: number | string;
  readonly maxLength?: number;
};

export function TextField({ label, hint, problem, value, onValue, ...rest }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} problem={problem ?? null}>
      {(facts) => (
        <input
          {...({ type: 'text', ...rest, ...facts } as object)}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

type TextAreaFieldProps = Omit<FieldProps, 'children'> & {
  readonly value: string;
  readonly onValue: (value: string) => void;
  /** Lines that are shown at first. */
  readonly rows: number;
  readonly placeholder?: string;
  readonly required?: boolean;
};

/** A text of several lines, such as a certificate. */
export function TextAreaField({
  label,
  hint,
  problem,
  value,
  onValue,
  ...rest
}: TextAreaFieldProps) {
  return (
    <Field label={label} hint={hint} problem={problem ?? null}>
      {(facts) => (
        <textarea
          {...rest}
          {...facts}
          class="mono"
          spellcheck={false}
          autocomplete="off"
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

type SelectFieldProps = Omit<FieldProps, 'children'> & {
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly onValue: (value: string) => void;
};

export function SelectField({ label, hint, problem, value, options, onValue }: SelectFieldProps) {
  return (
    <Field label={label} hint={hint} problem={problem ?? null}>
      {(facts) => (
        <select {...facts} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckField({
  label,
  hint,
  isChecked,
  onValue,
}: {
  readonly label: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly isChecked: boolean;
  readonly onValue: (isChecked: boolean) => void;
}) {
  return (
    <div class="field check">
      <label>
        <input
          type="checkbox"
          checked={isChecked}
          onChange={(event) => onValue(event.currentTarget.checked)}
        />
        <span>{label}</span>
      </label>
      {hint !== undefined && <p class="hint">{hint}</p>}
    </div>
  );
}

/** The error of the API and advice, without the problems that are shown at their fields. */
export function FormError({
  error,
  fields,
}: {
  readonly error: ApiError | null;
  /** The names whose problems the form shows at the fields. */
  readonly fields: readonly string[];
}) {
  if (error === null) return null;
  const others = error.problems.filter(({ path }) => !fields.includes(path.replace(/^body\./, '')));
  const isShownAbove = error.problems.length > 0 && others.length === 0;
  return (
    <div class="form-error" role="alert">
      {isShownAbove ? 'See the fields above.' : others.length === 0 ? error.message : ''}
      {error.problems.length === 0 && <Advice error={error} />}
      {error.kind === 'fault' && error.requestId !== null && (
        <p class="muted">
          request <Copyable text={error.requestId} />
        </p>
      )}
      {others.map(({ path, message }) => (
        <p key={path}>
          <code>{path.replace(/^body\./, '')}</code> {message}
        </p>
      ))}
    </div>
  );
}
