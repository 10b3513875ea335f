import { SnippetField } from '../../parts/forms/snippet-field.tsx';
import { useCheckForm } from './check-form.ts';
import { valueAt } from './draft.ts';
import { FactField } from './fact-field.tsx';
import { factsAt } from './facts.ts';
import { labelOf } from './form-fields.ts';
import { Section } from './section.tsx';

const STAGES = [
  { script: 'setupScript', snippet: 'setupSnippetId' },
  { script: 'teardownScript', snippet: 'teardownSnippetId' },
] as const;

/** The setup and teardown of API checks: a script or a snippet. */
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
  const id = valueAt(draft, snippet) ?? null;
  const hasScript = (valueAt(draft, script) ?? null) !== null;
  return (
    <>
      {(id === null || hasScript) && (
        <div class="editing-wide">
          <FactField path={script} rows={6} />
        </div>
      )}
      {(id !== null || !hasScript) && (
        <div data-field={snippet}>
          <SnippetField
            label={labelOf(snippet)}
            id={id === null ? null : Number(id)}
            problem={problemAt(snippet)}
            onId={(next) => change(snippet, next)}
          />
        </div>
      )}
    </>
  );
}
