import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  createScrubber as createKnown,
  type Scrubber as KnownScrubber,
  buildScrubber as prepareKnown,
} from '../../../scrub/scrubber.ts';
import { maskPatterns } from './secret-patterns.ts';

/** Takes secrets out of texts. */
export interface Scrubber {
  text(text: string): string;
  /** All texts inside of a value. The names of fields stay. */
  deep<T>(value: T): T;
  /** Whether a text still holds one of the secrets that are known. */
  holdsKnown(text: string): boolean;
}

/**
 * At once, so for few secrets.
 *
 * @param secrets values that are to be masked in every form; those that are no secrets by
 *   themselves (too short, `http://`) are left out
 */
export function createScrubber(secrets: readonly string[]): Scrubber {
  return withPatterns(createKnown(secrets));
}

/** The same for any number of them, with turns of the event loop in between. */
export async function buildScrubber(secrets: readonly string[]): Promise<Scrubber> {
  return withPatterns(await prepareKnown(secrets, () => nextTurn()));
}

function withPatterns(known: KnownScrubber): Scrubber {
  const text = (given: string): string => maskPatterns(known.text(given));
  const deep = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(deep);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, deep(inner)]));
  };
  return {
    text,
    deep: <T>(value: T) => deep(value) as T,
    holdsKnown: (given) => known.holdsKnown(given),
  };
}
