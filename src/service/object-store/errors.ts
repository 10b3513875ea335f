import { type ErrorKind, systemCodeOf, VedetteError } from '../../runtime/errors.ts';

/**
 * The errors of storing and reading artifacts, and who caused them: `input` means the request, `environment`
 * the disk or the object store. Callers choose their response only by the code.
 */
const KIND_OF = {
  /** A malformed name, digest, size, type or part number. */
  ARTIFACT_INVALID: 'input',
  /** Attributes: `limitBytes`, `bytes`. */
  ARTIFACT_TOO_LARGE: 'input',
  ARTIFACT_NOT_FOUND: 'input',
  /** The upload is neither completed nor open: begin again. */
  ARTIFACT_UPLOAD_NOT_FOUND: 'input',
  /** A part is too short or too long. Attributes: `expectedBytes`, `receivedBytes`. */
  ARTIFACT_PART_LENGTH: 'input',
  /** Attributes: `missing`, the part numbers. */
  ARTIFACT_PARTS_MISSING: 'input',
  /** The upload is dropped, since the wrong part is unknown: begin again. */
  ARTIFACT_DIGEST_MISMATCH: 'input',
  /** The requested range lies outside of the content. Attributes: `bytes`, the length of the content. */
  ARTIFACT_RANGE: 'input',
  /** Disk full, or the object store's quota. */
  ARTIFACT_STORE_FULL: 'environment',
  /** The object store cannot be reached, is too slow or too busy: retry later. */
  ARTIFACT_STORE_UNAVAILABLE: 'environment',
  /** The object store refuses the credentials or knows no such bucket. */
  ARTIFACT_STORE_REFUSED: 'environment',
  /** The disk or the object store failed otherwise, for example with EIO. */
  ARTIFACT_STORE_FAILED: 'environment',
  /** The stored content does not have the length that it was stored with. */
  ARTIFACT_DAMAGED: 'environment',
} as const satisfies Readonly<Record<string, ErrorKind>>;

export type ArtifactErrorCode = keyof typeof KIND_OF;
export type ArtifactErrorAttributes = Readonly<
  Record<string, string | number | readonly number[] | null>
>;

/** The only error of an ArtifactStore's methods, unless the signal was aborted. */
export class ArtifactError extends VedetteError {
  declare readonly code: ArtifactErrorCode;
  /** For programs; contains no secrets. */
  readonly attributes: ArtifactErrorAttributes;

  constructor(
    code: ArtifactErrorCode,
    message: string,
    attributes: ArtifactErrorAttributes = {},
    options?: ErrorOptions,
  ) {
    super(KIND_OF[code], code, message, options);
    this.name = 'ArtifactError';
    this.attributes = attributes;
  }
}

const FULL_CODES: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/**
 * Converts a failed file operation to an error that a user can act on. Returns an ArtifactError as it is.
 * `doing` completes the sentence "The artifact store could not …".
 */
export function diskError(thrown: unknown, doing: string): ArtifactError {
  if (thrown instanceof ArtifactError) return thrown;
  const systemCode = systemCodeOf(thrown);
  const attributes = { systemCode };
  const options = { cause: thrown };
  if (systemCode !== null && FULL_CODES.has(systemCode)) {
    const message = `The artifact store could not ${doing}: the disk is full (${systemCode}); free space or enlarge it`;
    return new ArtifactError('ARTIFACT_STORE_FULL', message, attributes, options);
  }
  const message = `The artifact store could not ${doing}: the disk answered ${systemCode ?? 'with an unknown error'}; see whether the folder is writable and the disk healthy`;
  return new ArtifactError('ARTIFACT_STORE_FAILED', message, attributes, options);
}

export function uploadNotFound(): ArtifactError {
  const message = 'There is no such open upload; begin the upload again';
  return new ArtifactError('ARTIFACT_UPLOAD_NOT_FOUND', message);
}

export function artifactNotFound(): ArtifactError {
  return new ArtifactError('ARTIFACT_NOT_FOUND', 'There is no such artifact');
}

/** The announced length is wrong: content with the same digest has another length. */
export function otherLength(stored: { readonly bytes: number }): ArtifactError {
  const message = `The artifact of this digest is ${stored.bytes} bytes long, which is not what was announced`;
  return new ArtifactError('ARTIFACT_INVALID', message);
}

export function digestMismatch(): ArtifactError {
  const message =
    'The content that was uploaded does not have the digest (sha256) it was announced with; begin again and send all parts';
  return new ArtifactError('ARTIFACT_DIGEST_MISMATCH', message);
}

type Guarded = <T>(doing: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/** Runs a method of a store with the errors of the port: the signal's reason, else an ArtifactError. */
export function guardedBy(toError: (thrown: unknown, doing: string) => ArtifactError): Guarded {
  return async (doing, signal, work) => {
    signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      throw toError(error, doing);
    }
  };
}
