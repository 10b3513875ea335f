import { type JSONPathQuery, type JSONValue, jsonpath } from 'json-p3';
import { parseJsonPath } from '../../model/check/expressions.ts';
import { LruCache } from '../../runtime/lru-cache.ts';

const compiled = new LruCache<JSONPathQuery | string>(500);

/** The compiled JSONPath (RFC 9535), or the problem with it. */
export function compileJsonPath(text: string): JSONPathQuery | string {
  return compiled.getOrMake(text, () => parseJsonPath(text));
}

/**
 * The values that a JSONPath selects, one at a time.
 *
 * @throws the library's error for a document that is too deep for `..`
 */
export function* select(query: JSONPathQuery, document: unknown): Generator<unknown> {
  for (const node of query.lazyQuery(document as JSONValue)) yield node.value;
}

/**
 * How much work a JSONPath can take:
 * - `plain`: names and positions only; at most one value
 * - `linear`: also `*`; at most as many values as the document has
 * - `open`: everything else, such as `..`, filters and lists of selectors, which can multiply
 */
export type PathReach = 'plain' | 'linear' | 'open';

const { IndexSelector, NameSelector, WildcardSelector } = jsonpath.selectors;

export function pathReach(query: JSONPathQuery): PathReach {
  if (query.singularQuery()) return 'plain';
  const isLinear = query.segments.every((segment) => {
    const [selector, ...others] = segment.selectors;
    if (others.length > 0 || segment.toString().startsWith('..')) return false;
    return [NameSelector, IndexSelector, WildcardSelector].some((kind) => selector instanceof kind);
  });
  return isLinear ? 'linear' : 'open';
}
