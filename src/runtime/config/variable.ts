import type { Parser } from './parsers.ts';

/** One environment variable: what the README's table tells, and how its text is read. */
export interface Variable<Value> {
  readonly name: string;
  /** As it would be written; null where there is none. */
  readonly default: string | null;
  readonly whenUnset: Value;
  readonly meaning: string;
  /** Completes "it must be …". */
  readonly allowed: string;
  /** Its value is never shown. */
  readonly secret: boolean;
  readonly parse: Parser<Value>;
}

/** Environment variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;
