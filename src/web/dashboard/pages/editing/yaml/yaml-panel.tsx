import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import type { FieldProblem } from '../../../api/errors.ts';
import { Button } from '../../../parts/button.tsx';
import type { CheckType } from '../../check/model.ts';
import type { Draft } from '../draft.ts';
import { CHECK_TYPES } from '../types.ts';
import { checkIn, type ReadCheck, type YamlProblem, yamlOf } from './check-yaml.ts';

export interface YamlPanelProps {
  readonly draft: Draft;
  readonly id: string;
  /** The id and the type of a stored check do not change. */
  readonly isStored: boolean;
  readonly problems: readonly FieldProblem[];
  readonly onCheck: (draft: Draft, id: string) => void;
  /** Whether the text is a check. */
  readonly onValid: (isValid: boolean) => void;
}

const MAX_SHOWN = 20;

/** The check as a check file. The form follows each valid text, and the text each change of the form. */
export function YamlPanel({ draft, id, isStored, problems, onCheck, onValid }: YamlPanelProps) {
  const type = draft.checkType as CheckType;
  const [text, setText] = useState(() => yamlOf(draft, id, type));
  const [wrong, setWrong] = useState<readonly YamlProblem[]>([]);
  /** A text with comments that the form has replaced. */
  const [replaced, setReplaced] = useState<string | null>(null);
  const read = useRef(useMemo(() => checkOf(text), []));
  /** The ids of the drafts of the texts: the text changes only for a different check. */
  const meant = useRef(useMemo(() => new WeakMap([[draft, id]]), []));
  const area = useRef<HTMLTextAreaElement>(null);
  const heading = useId();

  useEffect(() => {
    if (meant.current.get(draft) === id) return;
    if (read.current?.hasComments === true) setReplaced(text);
    meant.current.set(draft, id);
    show(yamlOf(draft, id, type));
  }, [draft, id]);
  useEffect(() => () => onValid(true), []);

  const show = (next: string): void => {
    read.current = checkOf(next);
    setText(next);
    setWrong([]);
    onValid(true);
  };
  const take = (next: string): void => {
    setText(next);
    const found = checkIn(next);
    const refused = 'draft' in found ? refusedOf(found, { type, id, isStored }) : found;
    setWrong(refused);
    onValid(refused.length === 0);
    if (!('draft' in found) || refused.length > 0) return;
    read.current = found;
    // Several changes may come before the form has the first one.
    meant.current.set(found.draft, found.id);
    onCheck(found.draft, found.id);
  };
  const goTo = (line: number): void => {
    const { current } = area;
    const before = text.split('\n').slice(0, line - 1);
    const start = before.reduce((sum, each) => sum + each.length + 1, 0);
    current?.focus();
    current?.setSelectionRange(start, start + (text.split('\n')[line - 1]?.length ?? 0));
  };
  const shown = wrong.length > 0 ? wrong : (read.current?.lined(problems) ?? []);
  return (
    <section class="panel editing-yaml" aria-labelledby={heading}>
      <div class="panel-head">
        <h2 id={heading}>YAML</h2>
        <span class="muted">as a check file has it</span>
      </div>
      <div class="panel-body">
        <textarea
          ref={area}
          class="editing-code"
          aria-labelledby={heading}
          aria-invalid={shown.length > 0 ? true : undefined}
          aria-describedby={`${heading}-problems`}
          spellcheck={false}
          autocomplete="off"
          wrap="off"
          value={text}
          onInput={(event) => {
            setReplaced(null);
            take(event.currentTarget.value);
          }}
        />
        <div role="status">
          <ul class="editing-yaml-problems" id={`${heading}-problems`}>
            {wrong.length > 0 && (
              <li class="muted">The form waits until the text is valid again.</li>
            )}
            {shown.slice(0, MAX_SHOWN).map(({ line, message }) => (
              <li key={`${line} ${message}`}>
                {line !== null && (
                  <Button class="small" onClick={() => goTo(line)}>
                    Line {line}
                  </Button>
                )}{' '}
                <span class="editing-problem">{message}</span>
              </li>
            ))}
            {replaced !== null && (
              <li>
                The form has rewritten this text: its comments were removed.{' '}
                <Button
                  class="small"
                  onClick={() => {
                    setReplaced(null);
                    take(replaced);
                  }}
                >
                  Restore my text
                </Button>
              </li>
            )}
          </ul>
        </div>
      </div>
    </section>
  );
}

function checkOf(text: string): ReadCheck | null {
  const found = checkIn(text);
  return 'draft' in found ? found : null;
}

/** Problems of a text that the form cannot show or an update cannot do. */
function refusedOf(
  read: ReadCheck,
  {
    type,
    id,
    isStored,
  }: { readonly type: CheckType; readonly id: string; readonly isStored: boolean },
): readonly YamlProblem[] {
  const given = read.draft.checkType;
  const problems: FieldProblem[] = [];
  if (!CHECK_TYPES.some((each) => each === given)) {
    problems.push({ path: 'checkType', message: `must be one of ${CHECK_TYPES.join(', ')}` });
  } else if (isStored && given !== type) {
    problems.push({ path: 'checkType', message: `must be ${type}: the type does not change` });
  }
  if (isStored && read.id !== id) {
    problems.push({ path: 'id', message: `must be ${id}: the id does not change` });
  }
  return read.lined(problems);
}
