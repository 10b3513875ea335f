import type { Parser } from './parsers.ts';

/** One environment variable: its row in the README's table, and its parser. */
export interface Variable<Value> {
  readonly name: string;
  /** As text; null if there is none. */
  readonly default: string | null;
  readonly whenUnset: Value;
  readonly meaning: string;
  /** Completes "it must be …". */
  readonly allowed: string;
  /** Its value is never shown. */
  readonly secret: boolean;
  readonly parse: Parser<Value>;
}

/** Environment variables by name, like `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;
