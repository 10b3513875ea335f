import type { FieldProblem } from '../../../api/errors.ts';
import { CheckField, problemOf, SelectField, TextField } from '../../../parts/field.tsx';
import {
  hintOf,
  labelOf,
  SERVICES,
  type ServiceField,
  type ServiceType,
  type ServiceValues,
} from './service-fields.ts';

interface ServiceFormProps {
  readonly type: ServiceType;
  readonly values: ServiceValues;
  readonly problems: readonly FieldProblem[];
  readonly change: (values: ServiceValues) => void;
}

/** The fields of a channel that sends to a chat, a push or an incident service. */
export function ServiceForm(props: ServiceFormProps) {
  const { setup, fields } = SERVICES[props.type];
  return (
    <>
      <p class="muted alerting-setup">{setup}</p>
      {fields.map((field) => (
        <OneField key={field.name} {...props} field={field} />
      ))}
    </>
  );
}

function OneField({
  field: { name, kind, text, sample, values: choices, isSecret = false, isNullable = false },
  values,
  problems,
  change,
}: ServiceFormProps & { readonly field: ServiceField }) {
  const { texts, stored, removed } = values;
  const label = labelOf(name);
  const set = (value: string): void => change({ ...values, texts: { ...texts, [name]: value } });
  if (choices !== undefined) {
    return (
      <SelectField
        label={label}
        value={texts[name] ?? ''}
        options={choices.map((choice) => ({ value: choice, label: choice }))}
        onValue={set}
      />
    );
  }
  const isStored = stored.includes(name);
  return (
    <>
      <TextField
        label={label}
        hint={
          isStored
            ? 'One is stored. Leave this empty to keep it.'
            : name === 'name'
              ? undefined
              : hintOf(text)
        }
        type={
          isSecret ? 'password' : name === 'url' ? 'url' : kind === 'integer' ? 'number' : 'text'
        }
        autocomplete={isSecret ? 'new-password' : 'off'}
        {...(sample === undefined ? {} : { placeholder: sample })}
        value={texts[name] ?? ''}
        onValue={set}
        problem={problemOf(problems, `config.${name}`)}
      />
      {isStored && isNullable && (
        <CheckField
          label={`Remove the stored ${label.toLowerCase()}`}
          isChecked={removed.includes(name)}
          onValue={(isRemoved) =>
            change({
              ...values,
              removed: isRemoved ? [...removed, name] : removed.filter((each) => each !== name),
            })
          }
        />
      )}
    </>
  );
}
