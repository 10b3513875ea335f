import { messageOf, systemCodeOf } from '../../runtime/errors.ts';

/**
 * What a failed statement means for the caller:
 * - `unavailable`: the database cannot be reached or cannot do it now; a retry may work
 * - `conflict`: another row conflicts (unique and foreign keys); see `constraint`
 * - `invalid`: a value that the database does not accept
 * - `internal`: a bug in a statement or in the use of the store
 */
export type StoreErrorKind = 'unavailable' | 'conflict' | 'invalid' | 'internal';

interface StoreErrorFacts {
  /** The name of the violated constraint. */
  readonly constraint?: string | undefined;
  readonly sqlState?: string | undefined;
}

/**
 * The only error that a store throws. Unlike errors of the drivers it contains no parameters and rows, which
 * must not be logged.
 */
export class StoreError extends Error {
  readonly kind: StoreErrorKind;
  /** UPPER_SNAKE_CASE and stable, for programs and logs. */
  readonly code: string;
  readonly constraint: string | null;
  /** Five characters (PostgreSQL manual, appendix A); null if no server answered. */
  readonly sqlState: string | null;

  constructor(kind: StoreErrorKind, code: string, message: string, facts: StoreErrorFacts = {}) {
    super(message);
    this.name = 'StoreError';
    this.kind = kind;
    this.code = code;
    this.constraint = facts.constraint ?? null;
    this.sqlState = facts.sqlState ?? null;
  }
}

export function storeClosedError(): StoreError {
  return new StoreError('unavailable', 'STORE_CLOSED', 'the database is closed');
}

/** The work of a transaction caught the error of a statement and went on, so the server rolled back. */
export function silentRollback(): StoreError {
  const message = 'a transaction was rolled back: a statement in it failed, and its error was lost';
  return new StoreError('internal', 'STORE_USE', message);
}

const COMMIT_UNKNOWN = 'STORE_COMMIT_UNKNOWN';
const BROKEN = 'STORE_BROKEN';

/** @param lost why there was no answer to COMMIT: the transaction may have taken effect */
export function commitUnknown(lost: StoreError): StoreError {
  const { message, sqlState } = lost;
  return new StoreError('unavailable', COMMIT_UNKNOWN, `COMMIT was not confirmed: ${message}`, {
    sqlState: sqlState ?? undefined,
  });
}

/** @param message why the embedded database is unusable until the process starts again */
export function brokenDatabase(message: string): StoreError {
  return new StoreError('unavailable', BROKEN, message);
}

/** Whether a transaction may have taken effect though it failed with this after its last statement. */
export function mayHaveCommitted(thrown: unknown): thrown is StoreError {
  if (!(thrown instanceof StoreError)) return false;
  return thrown.code === COMMIT_UNKNOWN || thrown.code === BROKEN;
}

interface Meaning {
  readonly kind: StoreErrorKind;
  readonly code: string;
  /** Whether the connection is unusable now. */
  readonly broken?: true;
}

const OWN_FAULT: Meaning = { kind: 'internal', code: 'STORE_STATEMENT' };
const CONNECTION: Meaning = { kind: 'unavailable', code: 'STORE_CONNECTION', broken: true };
/** By the settings of DATABASE_URL: user, password, database, certificate. */
const REFUSED: Meaning = { kind: 'unavailable', code: 'STORE_REFUSED', broken: true };

/** Keyed by SQLSTATE or by its class, the first two characters. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  '08': CONNECTION,
  '22': { kind: 'invalid', code: 'STORE_VALUE' },
  '23': { kind: 'conflict', code: 'STORE_CONSTRAINT' },
  '23502': { kind: 'invalid', code: 'STORE_NOT_NULL' },
  '23503': { kind: 'conflict', code: 'STORE_REFERENCE' },
  '23505': { kind: 'conflict', code: 'STORE_UNIQUE' },
  '23514': { kind: 'invalid', code: 'STORE_CHECK' },
  '25006': { kind: 'unavailable', code: 'STORE_READ_ONLY', broken: true },
  '25P03': CONNECTION,
  '25P04': CONNECTION,
  '28': REFUSED,
  '3D': REFUSED,
  '40': { kind: 'unavailable', code: 'STORE_ROLLED_BACK' },
  '40001': { kind: 'unavailable', code: 'STORE_SERIALIZATION' },
  '40P01': { kind: 'unavailable', code: 'STORE_DEADLOCK' },
  '53': { kind: 'unavailable', code: 'STORE_RESOURCES' },
  '53300': { kind: 'unavailable', code: 'STORE_TOO_MANY', broken: true },
  '54': { kind: 'invalid', code: 'STORE_TOO_LARGE' },
  '55P03': { kind: 'unavailable', code: 'STORE_LOCK_TIMEOUT' },
  '57': { kind: 'unavailable', code: 'STORE_SHUTDOWN', broken: true },
  '57014': { kind: 'unavailable', code: 'STORE_STATEMENT_TIMEOUT' },
  '58': { kind: 'unavailable', code: 'STORE_RESOURCES' },
};

/** For a row outside every partition, the server reports a violated check without a name. */
const NO_PARTITION: Meaning = { kind: 'internal', code: 'STORE_NO_PARTITION' };

/** Errors of OpenSSL and Node about the server's certificate. A date does not count: the clock may still be wrong. */
const UNTRUSTED: ReadonlySet<string | null> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);
const SQL_STATE = /^[0-9A-Z]{5}$/;

interface Judged {
  readonly error: StoreError;
  readonly broken: boolean;
}

/**
 * Translates the errors of both drivers. An error without SQLSTATE comes from the connection:
 * sockets, TLS, the pool's time limits.
 */
export function classifyError(thrown: unknown): Judged {
  if (thrown instanceof StoreError) return { error: thrown, broken: false };
  const message = messageOf(thrown).replaceAll(/\s+/g, ' ');
  const sqlState = sqlStateOf(thrown);
  if (sqlState === null) {
    if (thrown instanceof TypeError || thrown instanceof RangeError) {
      return { error: new StoreError('internal', 'STORE_USE', message), broken: true };
    }
    const words = message === '' ? (systemCodeOf(thrown) ?? 'no answer') : message;
    const text = `the database cannot be reached: ${words}`;
    const { kind, code } = UNTRUSTED.has(systemCodeOf(thrown)) ? REFUSED : CONNECTION;
    return { error: new StoreError(kind, code, text), broken: true };
  }
  const constraint = textOf(thrown, 'constraint');
  const meaning = meaningOf(sqlState, constraint);
  const text = `the database answered: ${message} (SQLSTATE ${sqlState})`;
  return {
    error: new StoreError(meaning.kind, meaning.code, text, { constraint, sqlState }),
    broken: meaning.broken === true,
  };
}

/** SQLSTATE: the database's disk is full (53100), or the database is read-only (25006). */
const REFUSALS: ReadonlySet<string | null> = new Set(['53100', '25006']);

/** Whether the database accepts no writes until an operator fixes it. */
export function refusesWrites(thrown: unknown): thrown is StoreError {
  return thrown instanceof StoreError && REFUSALS.has(thrown.sqlState);
}

function meaningOf(sqlState: string, constraint: string | undefined): Meaning {
  if (sqlState === '23514' && constraint === undefined) return NO_PARTITION;
  return MEANINGS[sqlState] ?? MEANINGS[sqlState.slice(0, 2)] ?? OWN_FAULT;
}

/** Node's own error codes have other lengths, or (EPIPE) no severity. */
function sqlStateOf(thrown: unknown): string | null {
  const code = systemCodeOf(thrown);
  if (code === null || !SQL_STATE.test(code)) return null;
  return textOf(thrown, 'severity') === undefined ? null : code;
}

function textOf(thrown: unknown, key: 'constraint' | 'severity'): string | undefined {
  if (typeof thrown !== 'object' || thrown === null) return undefined;
  const value: unknown = Reflect.get(thrown, key);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Identifies the kind of a failure, in order to log a repeated failure only once. */
export function storeErrorKind(error: unknown): string {
  return error instanceof StoreError ? error.code : 'OTHER';
}
