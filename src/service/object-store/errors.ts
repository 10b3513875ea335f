import { type ErrorKind, systemCodeOf, VedetteError } from '../../runtime/errors.ts';

/**
 * Every way in which storing or reading an artifact ends badly, and whose fault it is: `input` is
 * what the caller sent, `environment` is the disk or the object store. A caller chooses its answer
 * by the code alone.
 */
const KIND_OF = {
  /** A name, digest, size, type or part number that is not of the form it must have. */
  ARTIFACT_INVALID: 'input',
  /** Attributes: `limitBytes`, `bytes`. */
  ARTIFACT_TOO_LARGE: 'input',
  ARTIFACT_NOT_FOUND: 'input',
  /** The upload was completed by nobody, and is not open: begin again. */
  ARTIFACT_UPLOAD_NOT_FOUND: 'input',
  /** A part was cut short or ran over. Attributes: `expectedBytes`, `receivedBytes`. */
  ARTIFACT_PART_LENGTH: 'input',
  /** Attributes: `missing`, the part numbers. */
  ARTIFACT_PARTS_MISSING: 'input',
  /** The upload is gone, since nobody knows which part is wrong: begin again. */
  ARTIFACT_DIGEST_MISMATCH: 'input',
  /** The range asked for lies outside. Attributes: `bytes`, the whole length. */
  ARTIFACT_RANGE: 'input',
  /** Disk full, or the object store's quota. */
  ARTIFACT_STORE_FULL: 'environment',
  /** The object store cannot be reached, is too slow or too busy: again later. */
  ARTIFACT_STORE_UNAVAILABLE: 'environment',
  /** The object store refuses the credentials or knows no such bucket. */
  ARTIFACT_STORE_REFUSED: 'environment',
  /** The disk or the object store failed otherwise, for example with EIO. */
  ARTIFACT_STORE_FAILED: 'environment',
  /** What is stored is not as long as it was when it was stored. */
  ARTIFACT_DAMAGED: 'environment',
} as const satisfies Readonly<Record<string, ErrorKind>>;

export type ArtifactErrorCode = keyof typeof KIND_OF;
export type ArtifactErrorAttributes = Readonly<
  Record<string, string | number | readonly number[] | null>
>;

/** What every method of an ArtifactStore rejects with, unless its signal was aborted. */
export class ArtifactError extends VedetteError {
  declare readonly code: ArtifactErrorCode;
  /** Numbers and names that a program can use, and a person may be shown. */
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
 * A failed file operation as an error that a user can act on. An ArtifactError stays as it is.
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

/** One digest has one length, so the announcement is wrong. */
export function otherLength(stored: { readonly bytes: number }): ArtifactError {
  const message = `The artifact of this digest is ${stored.bytes} bytes long, which is not what was announced`;
  return new ArtifactError('ARTIFACT_INVALID', message);
}

export function digestMismatch(): ArtifactError {
  const message =
    'The content that was uploaded does not have the digest (sha256) it was announced with; begin again and send all parts';
  return new ArtifactError('ARTIFACT_DIGEST_MISMATCH', message);
}
