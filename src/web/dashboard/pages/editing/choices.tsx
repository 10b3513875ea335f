import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

export interface ChoiceOf {
  readonly value: string;
  readonly label: string;
}

/** Longer lists get a search field. */
const FEW = 12;

/** A choice of any number of entries. Chosen entries that are unknown stay and can be removed. */
export function Choices({
  field,
  legend,
  choices,
  chosen,
  problem,
  onChange,
  empty,
  note,
}: {
  readonly field: string;
  readonly legend: string;
  readonly choices: readonly ChoiceOf[];
  readonly chosen: readonly string[];
  readonly problem: string | null;
  readonly onChange: (chosen: readonly string[]) => void;
  /** Shown if there are no choices. */
  readonly empty: ComponentChildren;
  readonly note: string | null;
}) {
  const [search, setSearch] = useState('');
  const unknown = chosen
    .filter((value) => !choices.some((choice) => choice.value === value))
    .map((value) => ({ value, label: value }));
  const all = [...unknown, ...choices];
  const text = search.trim().toLowerCase();
  const shown = all.filter(({ label }) => label.toLowerCase().includes(text));
  const toggle = (value: string, isOn: boolean): void =>
    onChange(isOn ? [...chosen, value] : chosen.filter((each) => each !== value));
  return (
    <fieldset class="editing-choices" data-field={field}>
      <legend>{legend}</legend>
      {problem !== null && (
        <p class="editing-problem" role="alert">
          {problem}
        </p>
      )}
      {all.length === 0 && <p class="muted">{empty}</p>}
      {all.length > FEW && (
        <input
          type="search"
          aria-label={`Search: ${legend}`}
          placeholder="Search"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
      )}
      {all.length > 0 && (
        <ul>
          {shown.map(({ value, label }, at) => (
            <li key={value}>
              <label class="editing-tick">
                <input
                  type="checkbox"
                  checked={chosen.includes(value)}
                  aria-invalid={problem !== null && at === 0 ? true : undefined}
                  onChange={(event) => toggle(value, event.currentTarget.checked)}
                />
                <span>{label}</span>
              </label>
            </li>
          ))}
        </ul>
      )}
      {note !== null && <p class="muted">{note}</p>}
    </fieldset>
  );
}
