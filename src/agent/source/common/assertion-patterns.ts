import type { Assertion } from '../../../model/check/assertion.ts';
import { jsonPathProblem } from '../../assertions/json-path.ts';
import { patternProblem } from '../../assertions/pattern.ts';
import type { DocumentPath } from './file-problem.ts';

/** A pattern with a syntax error. */
export interface PatternProblem {
  /** Relative to the list of assertions. */
  readonly path: DocumentPath;
  /** Continues a sentence that starts with the path. */
  readonly message: string;
}

type Expression = 'JSONPath' | 'regular expression';

const PROBLEM_OF: Readonly<Record<Expression, (text: string) => string | null>> = {
  JSONPath: jsonPathProblem,
  'regular expression': patternProblem,
};
const MAX_PROBLEM_CHARS = 200;

/** The regular expressions and JSONPaths among the assertions that cannot be used; skips null. */
export function patternProblems(
  assertions: readonly (Assertion | null)[],
): readonly PatternProblem[] {
  return assertions.flatMap((assertion, index) =>
    assertion === null
      ? []
      : [
          ...problemOf(assertion.property, propertyExpression(assertion), [index, 'property']),
          ...problemOf(assertion.regex, 'regular expression', [index, 'regex']),
        ],
  );
}

/** The kind of expression in a property: src/model/README.md, "Assertions". */
function propertyExpression({ source, regex }: Assertion): Expression | null {
  switch (source) {
    case 'JSON_BODY':
    case 'JSON_ANSWER':
    case 'JSON_RESPONSE':
      return 'JSONPath';
    case 'TEXT_BODY':
    case 'TEXT_ANSWER':
    case 'RESPONSE_DATA':
      return (regex ?? '') === '' ? 'regular expression' : null;
    default:
      return null;
  }
}

function problemOf(
  text: string | null,
  expression: Expression | null,
  path: DocumentPath,
): PatternProblem[] {
  if (text === null || text === '' || expression === null) return [];
  const problem = PROBLEM_OF[expression](text);
  if (problem === null) return [];
  return [
    { path, message: `is not a valid ${expression} (${problem.slice(0, MAX_PROBLEM_CHARS)})` },
  ];
}
