import { Document, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import type { FieldProblem } from '../../../api/errors.ts';
import type { CheckType } from '../../check/model.ts';
import type { Draft } from '../draft.ts';
import { shortForm } from './short-form.ts';

const MASK = '********';
const HIDDEN = ' hidden: put the value here, or leave it as it is to keep the stored one';
/** Enough for a body of 1,000,000 characters and the other fields. */
const MAX_CHARS = 1_200_000;
const MAX_ALIASES = 100;

/** A problem of a text or of its meaning. */
export interface YamlProblem {
  /** The line, from 1; null if the problem concerns no line. */
  readonly line: number | null;
  readonly message: string;
}

export interface ReadCheck {
  readonly draft: Draft;
  /** Empty: none. */
  readonly id: string;
  readonly hasComments: boolean;
  /** The problems of the API with their lines. */
  lined(problems: readonly FieldProblem[]): readonly YamlProblem[];
}

/** A check file with this check. */
export function yamlOf(draft: Draft, id: string, type: CheckType): string {
  const entry = { ...(id === '' ? {} : { id }), ...shortForm(draft, type) };
  const file = new Document({ checks: [entry] }, { aliasDuplicateObjects: false });
  visit(file, {
    Pair(_, { key, value }) {
      if (!isScalar(value)) return;
      // The value of a secret variable is null.
      const isHidden = isScalar(key) && key.value === 'value' && value.value === null;
      if (isHidden || value.value === MASK) value.comment = HIDDEN;
    },
  });
  return file.toString({ lineWidth: 100 });
}

/** The check in the text of a check file, or the problems of the text. */
export function checkIn(text: string): ReadCheck | readonly YamlProblem[] {
  if (text.length > MAX_CHARS) return [{ line: null, message: 'is too long for a check' }];
  const lines = new LineCounter();
  const file = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    version: '1.2',
    schema: 'core',
    merge: false,
    stringKeys: true,
  });
  const lineAt = (offset: number): number => lines.linePos(offset).line;
  if (file.errors.length > 0) {
    return file.errors.map(({ pos, message }) => ({ line: lineAt(pos[0]), message }));
  }
  const wrong = (message: string, path: readonly unknown[]): readonly YamlProblem[] => {
    const node = file.getIn(path, true);
    return [{ line: isNode(node) && node.range ? lineAt(node.range[0]) : null, message }];
  };
  let whole: unknown;
  try {
    whole = file.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    return [{ line: null, message: error instanceof Error ? error.message : String(error) }];
  }
  if (!isObject(whole) || !Array.isArray(whole.checks)) {
    return wrong('must have `checks:` with one check below', []);
  }
  const other = Object.keys(whole).find((name) => name !== 'checks');
  if (other !== undefined) return wrong(`${other} is not part of a check: take it out`, [other]);
  if (whole.checks.length !== 1) {
    return wrong(`must have one check, not ${whole.checks.length}`, ['checks']);
  }
  const [check] = whole.checks as readonly unknown[];
  if (!isObject(check)) return wrong('must be a check, with its fields', ['checks', 0]);
  const { id = '', ...draft } = check;
  let hasComments = false;
  visit(file, {
    Node(_, node) {
      const comments = [node.commentBefore, node.comment];
      if (comments.some((one) => one != null && one !== HIDDEN)) hasComments = true;
    },
  });
  return {
    draft,
    id: String(id),
    hasComments: hasComments || file.comment !== null || file.commentBefore !== null,
    lined: (problems) =>
      problems.map(({ path, message }) => {
        const parts = partsOf(path.replace(/^body\./, ''));
        const at = nearest(file, parts);
        return {
          line: at === null ? null : lineAt(at),
          message: `${path.replace(/^body\./, '')} ${message}`,
        };
      }),
  };
}

function partsOf(path: string): readonly (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([part, index]) =>
    index === undefined ? part : Number(index),
  );
}

/** The position in the text of a field, or of the nearest part around it. */
function nearest(file: Document, parts: readonly (string | number)[]): number | null {
  for (let count = parts.length; count >= 0; count -= 1) {
    const node = file.getIn(['checks', 0, ...parts.slice(0, count)], true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
