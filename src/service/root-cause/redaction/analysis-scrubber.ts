import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { buildScrubber, createScrubber, type Scrubber } from '../../../scrub/scrubber.ts';
import { maskPatterns } from './secret-patterns.ts';

/** Masks secrets in texts. */
export interface AnalysisScrubber {
  text(text: string): string;
  /** Masks all texts inside of a value, but not the names of fields. */
  deep<T>(value: T): T;
  /** Whether a text contains one of the known secrets. */
  holdsKnown(text: string): boolean;
}

/**
 * Builds the scrubber synchronously; use it only for few secrets.
 *
 * @param secrets values to mask in every form; ignores values that cannot be secrets (too short, `http://`)
 */
export function createAnalysisScrubber(secrets: readonly string[]): AnalysisScrubber {
  return withPatterns(createScrubber(secrets));
}

/** The same for any number of secrets; yields to the event loop. */
export async function buildAnalysisScrubber(secrets: readonly string[]): Promise<AnalysisScrubber> {
  return withPatterns(await buildScrubber(secrets, () => yieldToEventLoop()));
}

function withPatterns(known: Scrubber): AnalysisScrubber {
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
