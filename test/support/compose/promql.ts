/** One selector of a PromQL expression, and its context. */
export interface Selector {
  readonly metric: string;
  /** Names of the labels that it matches. */
  readonly labels: readonly string[];
  readonly hasRange: boolean;
  /** Functions and aggregations around it, the outermost first. */
  readonly within: readonly string[];
  /** Labels by which aggregations and binary operators around it group and match. */
  readonly grouping: readonly string[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Found = Mutable<Selector>;

const TOKEN =
  /\s*(?:(?<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?<duration>\d+(?:ms|[smhdwy])(?:\d+(?:ms|[smhdwy]))*)|(?<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)|(?<name>[a-zA-Z_:][\w:]*)|(?<sign>=~|!~|!=|==|>=|<=|[-+*/%^<>=(){}[\],]))/uy;
const GROUPINGS = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
const WORDS = new Set(['and', 'or', 'unless', 'bool', 'offset']);

/**
 * The selectors of a PromQL expression without variables. Parses only enough of the grammar to find
 * the metrics and their use; promtool validates the rest.
 *
 * @throws Error on unknown syntax
 */
export function selectorsOf(expression: string): readonly Selector[] {
  const tokens = tokensOf(expression);
  const found: Found[] = [];
  let at = 0;
  const within: string[] = [];

  const peek = (ahead = 0): string => tokens[at + ahead] ?? '';
  const isName = (token: string): boolean => /^[a-zA-Z_:]/.test(token);
  const take = (wanted?: string): string => {
    const token = peek();
    if (token === '' || (wanted !== undefined && token !== wanted)) {
      throw new Error(`expected ${wanted ?? 'more'} at «${token}» of ${expression}`);
    }
    at += 1;
    return token;
  };

  function names(): readonly string[] {
    const list: string[] = [];
    take('(');
    while (peek() !== ')') {
      list.push(take());
      if (peek() === ',') take();
    }
    take(')');
    return list;
  }

  /** Adds the labels to the selectors found from `first` on, and to later ones. */
  function grouping(first: number, open: string[]): void {
    while (GROUPINGS.has(peek())) {
      take();
      if (peek() !== '(') continue;
      const labels = names();
      open.push(...labels);
      for (const one of found.slice(first)) one.grouping = [...one.grouping, ...labels];
    }
  }

  function matchers(): readonly string[] {
    const labels: string[] = [];
    take('{');
    while (peek() !== '}') {
      labels.push(take());
      if (!['=', '!=', '=~', '!~'].includes(take())) throw new Error(`no matcher in ${expression}`);
      if (!/^["']/.test(take())) throw new Error(`a label is matched by no text in ${expression}`);
      if (peek() === ',') take();
    }
    take('}');
    return labels;
  }

  function call(open: readonly string[]): void {
    const first = found.length;
    const own = [...open];
    within.push(take());
    grouping(first, own);
    take('(');
    while (peek() !== ')') {
      operation(own);
      if (peek() === ',') take();
    }
    take(')');
    grouping(first, own);
    within.pop();
  }

  function operand(open: readonly string[]): void {
    if (['-', '+'].includes(peek())) take();
    const first = found.length;
    const token = peek();
    if (token === '(') {
      take();
      operation(open);
      take(')');
    } else if (isName(token) && (peek(1) === '(' || GROUPINGS.has(peek(1)))) {
      call(open);
    } else if (isName(token) && !WORDS.has(token)) {
      const metric = take();
      const labels = peek() === '{' ? matchers() : [];
      found.push({ metric, labels, hasRange: false, within: [...within], grouping: [...open] });
    } else if (/^["'\d]/.test(token)) {
      take();
    } else {
      throw new Error(`unknown «${token}» in ${expression}`);
    }
    if (peek() === '[') {
      take();
      take();
      take(']');
      for (const one of found.slice(first)) one.hasRange = true;
    }
    if (peek() === 'offset') {
      take();
      take();
    }
  }

  function operation(open: readonly string[]): void {
    const first = found.length;
    const own = [...open];
    operand(own);
    while (
      ['and', 'or', 'unless'].includes(peek()) ||
      /^(?:[-+*/%^<>]|==|!=|>=|<=)$/.test(peek())
    ) {
      take();
      if (peek() === 'bool') take();
      grouping(first, own);
      operand(own);
    }
  }

  operation([]);
  if (peek() !== '') throw new Error(`«${peek()}» is left of ${expression}`);
  return found;
}

function tokensOf(expression: string): readonly string[] {
  const tokens: string[] = [];
  const text = expression.trim();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const from = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) throw new Error(`unreadable at ${from}: ${text.slice(from)}`);
    tokens.push(match[0].trim());
  }
  return tokens;
}
