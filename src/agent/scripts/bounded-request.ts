import { MAX_PAIRS } from './limits.ts';

/**
 * What a script made of a request, as far as it has the form of one: in the worker, because a message of
 * millions of values would take the main thread longer to read than to judge. Anything else becomes null,
 * and there is one pair more than allowed if there are too many, so that the main thread refuses both.
 */
export function boundedRequest(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return null;
  const { url, method, headers, query, body } = given as Readonly<Record<string, unknown>>;
  return {
    url: textOrNull(url),
    method: textOrNull(method),
    headers: boundedPairs(headers),
    query: boundedPairs(query),
    body: textOrNull(body),
  };
}

function boundedPairs(given: unknown): unknown {
  if (!Array.isArray(given)) return null;
  return given.slice(0, MAX_PAIRS + 1).map((pair: unknown) => {
    const isPair = Array.isArray(pair) && pair.length === 2;
    return isPair ? pair.map(textOrNull) : null;
  });
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
