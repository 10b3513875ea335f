import { ChoicesError } from '../../parts/error-state.tsx';
import { Field, SelectField } from '../../parts/field.tsx';
import { TAGS_HINT, tagsIn, tagsText } from '../../parts/forms/tags.ts';
import { useGroups } from '../../parts/lists/use-groups.ts';
import { useCheckForm } from './check-form.ts';
import { listAt, valueAt } from './draft.ts';
import { FactField, useTyped } from './fact-field.tsx';
import { factsAt } from './facts.ts';
import { labelOf } from './form-fields.ts';
import { Section } from './section.tsx';

/** Group, tags and note. */
export function Belonging() {
  const { type, draft, change, problemAt } = useCheckForm();
  const query = useGroups();
  const found = query.data.value;
  const groupId = valueAt(draft, 'groupId') ?? null;
  const known = (found?.groups ?? []).map(({ id, name }) => ({
    value: String(id),
    label: name,
  }));
  const isKnown = known.some(({ value }) => value === String(groupId));
  return (
    <Section title="Group and tags">
      <div data-field="groupId">
        <SelectField
          label={labelOf('groupId')}
          hint={['Its settings take precedence over those of the check.', found?.limitNote]
            .filter(Boolean)
            .join(' ')}
          value={groupId === null ? '' : String(groupId)}
          options={[
            { value: '', label: 'none' },
            ...(groupId === null || isKnown
              ? []
              : [{ value: String(groupId), label: `group ${String(groupId)}` }]),
            ...known,
          ]}
          problem={problemAt('groupId')}
          onValue={(id) => change('groupId', id === '' ? null : Number(id))}
        />
        <ChoicesError what="groups" error={query.error.value} retry={query.reload} />
      </div>
      {groupId !== null && <FactField path="groupOrder" />}
      <Tags />
      <div class="editing-wide">
        <FactField path="description" rows={2} hint={factsAt(type, 'description')?.text} />
      </div>
    </Section>
  );
}

/** Tags in one control, with commas in between. */
function Tags() {
  const { draft, change, problems, problemAt } = useCheckForm();
  const tags = listAt(draft, 'tags').map(String);
  const [text, setText] = useTyped(tagsText(tags), (typed) => tagsText(tagsIn(typed)));
  const ofOne = problems.find(({ path }) => /^body\.tags\[/.test(path))?.message ?? null;
  return (
    <div data-field="tags">
      <Field label={labelOf('tags')} hint={TAGS_HINT} problem={problemAt('tags') ?? ofOne}>
        {(at) => (
          <input
            {...at}
            type="text"
            autocomplete="off"
            placeholder="shop, production"
            value={text}
            onInput={({ currentTarget: { value } }) => {
              setText(value);
              change('tags', tagsIn(value));
            }}
          />
        )}
      </Field>
    </div>
  );
}
