import { Field } from '../../parts/field.tsx';
import { tagsIn, tagsText } from '../../parts/forms/tags.ts';
import { useCheckForm } from './check-form.ts';
import { listAt } from './draft.ts';
import { useTyped } from './fact-field.tsx';
import { factsAt } from './facts.ts';
import { labelOf } from './form-fields.ts';

/** The ids of other checks in one control, with commas in between. */
export function DependsOn() {
  const { type, draft, change, problems, problemAt } = useCheckForm();
  const ids = listAt(draft, 'dependsOn').map(String);
  const [text, setText] = useTyped(tagsText(ids), (typed) => tagsText(tagsIn(typed)));
  const ofOne = problems.find(({ path }) => /^body\.dependsOn\[/.test(path))?.message ?? null;
  return (
    <div data-field="dependsOn">
      <Field
        label={labelOf('dependsOn')}
        hint={factsAt(type, 'dependsOn')?.text}
        problem={problemAt('dependsOn') ?? ofOne}
      >
        {(at) => (
          <input
            {...at}
            type="text"
            autocomplete="off"
            placeholder="router, proxy"
            value={text}
            onInput={({ currentTarget: { value } }) => {
              setText(value);
              change('dependsOn', tagsIn(value));
            }}
          />
        )}
      </Field>
    </div>
  );
}
