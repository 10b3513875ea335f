/**
 * What a thrown error means where it is caught:
 * - `usage`: the command line is wrong
 * - `input`: a file or document of the user is wrong
 * - `config`: an environment variable is wrong
 * - `permission`: the process lacks a right it needs
 * - `environment`: the machine refused something (port taken, disk full)
 * - `internal`: a bug of Vedette
 */
export type ErrorKind = 'usage' | 'input' | 'config' | 'permission' | 'environment' | 'internal';

/**
 * The only error that the code of Vedette throws on purpose. Its message is one line for users that says
 * what is wrong, where, and what to do.
 */
export class VedetteError extends Error {
  readonly kind: ErrorKind;
  /** UPPER_SNAKE_CASE and stable: for programs and logs. */
  readonly code: string;

  constructor(kind: ErrorKind, code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'VedetteError';
    this.kind = kind;
    this.code = code;
  }
}

/** The text of anything thrown, for logs. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The `code` of a Node system or OpenSSL error; null if there is none. */
export function systemCodeOf(thrown: unknown): string | null {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return null;
  return typeof thrown.code === 'string' ? thrown.code : null;
}
