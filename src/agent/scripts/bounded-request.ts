import { MAX_PAIRS } from './limits.ts';

/**
 * The parts of a script's request that have the form of one. Called in the worker, because the main
 * thread would take long to read a message of millions of values. Replaces anything else by null,
 * and keeps one pair more than allowed if there are too many, so that the main thread refuses both.
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
