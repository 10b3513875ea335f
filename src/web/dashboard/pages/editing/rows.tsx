import type { ComponentChildren } from 'preact';
import { Button } from '../../parts/button.tsx';
import { CrossIcon } from '../../parts/icons.tsx';
import { useCheckForm } from './check-form.ts';
import { listAt, valueAt } from './draft.ts';
import { Choice, shownText } from './fact-field.tsx';
import { factsAt, patternOf } from './facts.ts';
import { labelOf, wordsOf } from './form-fields.ts';

/** A list of a check with one row per entry. Shows nothing if the type does not have the list. */
export function Rows({
  path,
  legend,
  isLegendHidden = false,
  one,
  empty,
  hint,
  row,
}: {
  readonly path: string;
  readonly legend: string;
  /** Whether the legend is hidden because the heading says the same. */
  readonly isLegendHidden?: boolean;
  /** The noun for one entry, for buttons: `header`. */
  readonly one: string;
  /** A new entry. */
  readonly empty: Readonly<Record<string, unknown>> | string;
  readonly hint?: ComponentChildren;
  /** @param at the path of the entry */
  readonly row: (at: string, index: number) => ComponentChildren;
}) {
  const { type, draft, change, problemAt } = useCheckForm();
  const facts = factsAt(type, path);
  if (facts === null) return null;
  const entries = listAt(draft, path);
  const problem = problemAt(path);
  return (
    <fieldset class="editing-rows">
      <legend class={isLegendHidden ? 'visually-hidden' : undefined}>{legend}</legend>
      {hint !== undefined && <p class="muted">{hint}</p>}
      {problem !== null && (
        <p class="editing-problem" role="alert">
          {problem}
        </p>
      )}
      {entries.map((_, index) => (
        <div class="editing-row" key={index}>
          <div class="editing-cells">{row(`${path}[${index}]`, index)}</div>
          <Button
            class="icon"
            aria-label={`Remove ${one} ${index + 1}`}
            onClick={() => change(path, entries.toSpliced(index, 1))}
          >
            <CrossIcon />
          </Button>
        </div>
      ))}
      <Button
        class="small"
        disabled={facts.maxItems !== undefined && entries.length >= facts.maxItems}
        onClick={() => change(path, [...entries, empty])}
      >
        Add {/^[aeiou]/.test(one) ? 'an' : 'a'} {one}
      </Button>
    </fieldset>
  );
}

/** A control in a row. Its label is for screen readers, with the number of the row. */
export function Cell({
  path,
  index,
  placeholder,
  isSecret = false,
  isWide = false,
  wordOf = wordsOf,
  onText,
}: {
  readonly path: string;
  readonly index: number;
  readonly placeholder?: string;
  readonly isSecret?: boolean;
  readonly isWide?: boolean;
  /** Instead of `wordsOf`. */
  readonly wordOf?: (value: string | number) => string;
  /** Converts the input to the value. Default: the text itself. */
  readonly onText?: (text: string) => unknown;
}) {
  const { type, draft, change, problemAt } = useCheckForm();
  const facts = factsAt(type, path);
  if (facts === null) return null;
  const pattern = patternOf(path);
  const given = valueAt(draft, path);
  const value = given === undefined ? (facts.default ?? null) : given;
  const problem = problemAt(path);
  const id = `cell-${path}`;
  const at = {
    'aria-label': `${labelOf(pattern)} ${index + 1}`,
    'aria-invalid': problem === null ? undefined : (true as const),
    'aria-describedby': problem === null ? undefined : id,
  };
  return (
    <div class={`editing-cell${isWide ? ' wide' : ''}`} data-field={pattern}>
      {facts.kind === 'boolean' ? (
        <label class="editing-tick">
          <input
            type="checkbox"
            {...at}
            checked={value === true}
            onChange={(event) => change(path, event.currentTarget.checked)}
          />
          {labelOf(pattern)}
        </label>
      ) : facts.values !== undefined ? (
        <Choice
          {...at}
          facts={facts}
          value={value}
          wordOf={wordOf}
          onValue={(next) => change(path, next)}
        />
      ) : (
        <input
          {...at}
          {...(isSecret ? { type: 'password' } : { type: 'text' })}
          autocomplete={isSecret ? 'new-password' : 'off'}
          spellcheck={false}
          placeholder={placeholder}
          value={shownText(value)}
          onInput={({ currentTarget: { value: text } }) =>
            change(path, onText === undefined ? text : onText(text))
          }
        />
      )}
      {problem !== null && (
        <p class="editing-problem" id={id}>
          {problem}
        </p>
      )}
    </div>
  );
}
