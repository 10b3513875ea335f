import { api, bodyOf } from '../../api/client.ts';
import { useQuery } from '../../api/query.ts';
import { ChoicesError } from '../../parts/error-state.tsx';
import { SelectField } from '../../parts/field.tsx';
import { useCheckForm } from './check-form.ts';
import { valueAt } from './draft.ts';
import { FactField } from './fact-field.tsx';
import { factsAt } from './facts.ts';
import { labelOf } from './form-fields.ts';
import { Section } from './section.tsx';

const SHOWN = 100;

const STAGES = [
  { script: 'setupScript', snippet: 'setupSnippetId' },
  { script: 'teardownScript', snippet: 'teardownSnippetId' },
] as const;

/** What API checks run before their request and after the response: a script, or a snippet. */
export function Scripts() {
  const { type } = useCheckForm();
  if (factsAt(type, 'setupScript') === null) return null;
  return (
    <Section title="Scripts">
      {STAGES.map((stage) => (
        <Stage key={stage.script} {...stage} />
      ))}
    </Section>
  );
}

function Stage({ script, snippet }: (typeof STAGES)[number]) {
  const { draft, change, problemAt } = useCheckForm();
  const query = useQuery(
    'snippets to choose',
    (signal) => bodyOf(api.GET('/v1/snippets', { params: { query: { limit: SHOWN } }, signal })),
    { on: [] },
  );
  const id = valueAt(draft, snippet) ?? null;
  const hasScript = (valueAt(draft, script) ?? null) !== null;
  const known = (query.data.value ?? []).map((each) => ({
    value: String(each.id),
    label: each.name,
  }));
  const isKnown = known.some(({ value }) => value === String(id));
  return (
    <>
      {(id === null || hasScript) && (
        <div class="editing-wide">
          <FactField path={script} rows={6} />
        </div>
      )}
      {(id !== null || !hasScript) && (
        <div data-field={snippet}>
          <SelectField
            label={labelOf(snippet)}
            value={id === null ? '' : String(id)}
            options={[
              { value: '', label: 'none' },
              ...(id === null || isKnown
                ? []
                : [{ value: String(id), label: `snippet ${String(id)}` }]),
              ...known,
            ]}
            problem={problemAt(snippet)}
            onValue={(next) => change(snippet, next === '' ? null : Number(next))}
          />
          <ChoicesError what="snippets" error={query.error.value} retry={query.reload} />
        </div>
      )}
    </>
  );
}
