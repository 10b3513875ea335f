import Handlebars from 'handlebars';
import { messageOf } from '../../runtime/errors.ts';

const BLOCKS = ['if', 'unless', 'each'];
const HELPERS = ['json', 'eq'];
const ALLOWED =
  'only if, unless and each begin a block, and only json and eq are helpers beside them';
const MAX_DEPTH = 12;
/** Each tag takes at least 50 µs to parse and compile. There are only 25 variables. */
const MAX_TAGS = 200;
/** Each bracket may begin a nested call, which is slow to parse. */
const MAX_BRACKETS = 200;
/** Maximum number of parts in `a.b.c`; names of variables contain no dots. */
const MAX_PATH_PARTS = 8;
/** Maximum length of a parser message that has one line. */
const MAX_PROBLEM_CHARS = 100;
/** A frequent mistake in JSON if a tag is the last value of an object. */
const TOO_MANY_BRACES = /(?<!\{)\{\{(?!\{)[^{}]*\}\}\}/;

export type ParsedTemplate =
  | { readonly ok: true; readonly program: hbs.AST.Program }
  | { readonly ok: false; readonly problem: string };

/**
 * Parses a template, or returns why it is not allowed. Refuses partials and decorators, which can recurse; nested
 * loops, which can run for very long; undocumented helpers; and more tags than can be compiled in a short time.
 */
export function parseTemplate(template: string): ParsedTemplate {
  const refuse = (problem: string): ParsedTemplate => ({ ok: false, problem });
  if (containsMoreThan(MAX_TAGS, '{{', template)) {
    return refuse(`it has more than ${MAX_TAGS} tags ({{)`);
  }
  if (containsMoreThan(MAX_BRACKETS, '(', template)) {
    return refuse(`it has more than ${MAX_BRACKETS} opening brackets`);
  }
  let program: hbs.AST.Program;
  try {
    // The compiler strips white space around blocks later.
    program = Handlebars.parseWithoutProcessing(template);
  } catch (thrown) {
    const hint = TOO_MANY_BRACES.test(template) ? '; }}} needs a space between }} and }' : '';
    return refuse(`it is not a Handlebars template: ${syntaxProblem(messageOf(thrown))}${hint}`);
  }
  const problem = problemIn(program, { depth: 0, inLoop: false });
  return problem === null ? { ok: true, program } : refuse(problem);
}

function containsMoreThan(most: number, what: string, text: string): boolean {
  let count = 0;
  for (let at = text.indexOf(what); at !== -1; at = text.indexOf(what, at + what.length)) {
    count += 1;
    if (count > most) return true;
  }
  return false;
}

interface TemplatePosition {
  readonly depth: number;
  readonly inLoop: boolean;
}

function problemIn(program: hbs.AST.Program, place: TemplatePosition): string | null {
  if (place.depth > MAX_DEPTH) return `its blocks are nested more than ${MAX_DEPTH} deep`;
  for (const statement of program.body) {
    const problem = problemOf(statement, place);
    if (problem !== null) return `line ${statement.loc.start.line}: ${problem}`;
  }
  return null;
}

function problemOf(statement: hbs.AST.Statement, place: TemplatePosition): string | null {
  switch (statement.type) {
    case 'ContentStatement':
    case 'CommentStatement':
      return null;
    case 'MustacheStatement':
      return problemOfCall(statement as hbs.AST.MustacheStatement, 0);
    case 'BlockStatement':
      return problemOfBlock(statement as hbs.AST.BlockStatement, place);
    default:
      return 'partials and decorators are not allowed';
  }
}

function problemOfBlock(
  block: hbs.AST.BlockStatement,
  { depth, inLoop }: TemplatePosition,
): string | null {
  const name = nameOf(block.path);
  if (!BLOCKS.includes(name)) return `a block {{#${name}}} is not allowed: ${ALLOWED}`;
  if (block.params.length !== 1) return `{{#${name}}} takes one value`;
  if (name === 'each' && inLoop) return 'an each inside another is not allowed';
  const params = problemOfParams(block.params, block.hash, 0);
  if (params !== null) return params;
  const inner = { depth: depth + 1, inLoop: inLoop || name === 'each' };
  const others = { depth: depth + 1, inLoop };
  return (
    problemWithin(block.program, inner) ??
    (block.inverse === undefined ? null : problemWithin(block.inverse, others))
  );
}

/** Without the line, as the statement around it adds its own. */
function problemWithin(
  program: hbs.AST.Program | undefined,
  place: TemplatePosition,
): string | null {
  if (program === undefined) return null;
  return problemIn(program, place)?.replace(/^line \d+: /, '') ?? null;
}

interface Call {
  readonly path: hbs.AST.Expression;
  readonly params: hbs.AST.Expression[];
  readonly hash: hbs.AST.Hash;
}

function problemOfCall({ path, params, hash }: Call, depth: number): string | null {
  if (isTooLong(path)) return LONG_PATH;
  const name = nameOf(path);
  if (params.length === 0 && ![...BLOCKS, ...HELPERS].includes(name)) {
    return problemOfParams(params, hash, depth);
  }
  if (!HELPERS.includes(name)) return `the helper ${name} is not known: ${ALLOWED}`;
  if (params.length !== (name === 'eq' ? 2 : 1)) {
    return name === 'eq' ? 'eq takes two values' : 'json takes one value';
  }
  return problemOfParams(params, hash, depth);
}

function problemOfParams(
  params: readonly hbs.AST.Expression[],
  hash: hbs.AST.Hash,
  depth: number,
): string | null {
  if ((hash?.pairs.length ?? 0) > 0) return 'key=value is not allowed';
  if (depth > MAX_DEPTH) return `its calls are nested more than ${MAX_DEPTH} deep`;
  for (const param of params) {
    if (isTooLong(param)) return LONG_PATH;
    if (param.type !== 'SubExpression') continue;
    const problem = problemOfCall(param as hbs.AST.SubExpression, depth + 1);
    if (problem !== null) return problem;
  }
  return null;
}

const LONG_PATH = `a name has more than ${MAX_PATH_PARTS} parts`;

function isTooLong(expression: hbs.AST.Expression): boolean {
  if (expression.type !== 'PathExpression') return false;
  const { parts, depth } = expression as hbs.AST.PathExpression;
  return parts.length + depth > MAX_PATH_PARTS;
}

function nameOf(path: hbs.AST.Expression): string {
  return path.type === 'PathExpression' ? (path as hbs.AST.PathExpression).original : path.type;
}

/**
 * Shortens a message of the parser. It has several lines: the line number, the template around the error, a
 * pointer to the character, and internal names of tokens.
 */
function syntaxProblem(message: string): string {
  const [first = '', template, pointer] = message.split('\n');
  const at = pointer?.indexOf('^') ?? -1;
  if (template === undefined || at === -1) return first.slice(0, MAX_PROBLEM_CHARS);
  const before = JSON.stringify(template.slice(0, at));
  return at < template.length
    ? `${first} wrong after ${before}`
    : `${first} a tag or a block is still open after ${before}`;
}
