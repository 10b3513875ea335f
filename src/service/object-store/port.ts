import type { Readable } from 'node:stream';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ByteRange } from './byte-range.ts';

/** S3 takes no smaller part, but for the last. */
export const MIN_PART_BYTES = 5 * 1024 * 1024;

export const DEFAULT_PART_BYTES = 8 * 1024 * 1024;

/**
 * Where one artifact is. Content is addressed by its digest within one account and no further:
 * otherwise whoever knows a digest could read another account's content by claiming to upload it,
 * and could tell from the answer who has it.
 */
export interface ArtifactKey {
  readonly accountId: string;
  /** 64 lower-case hex digits. */
  readonly sha256: string;
}

export interface ArtifactDescription extends ArtifactKey {
  /** 1 to MAX_ARTIFACT_BYTES. */
  readonly bytes: number;
  /** A media type with its parameters, at most 400 characters. The first one stored is kept. */
  readonly contentType: string;
}

export interface StoredArtifact extends ArtifactDescription {
  readonly storedAtMs: number;
}

export interface NewUpload extends ArtifactDescription {
  /**
   * Who alone puts parts to it: owners that upload the same content at once have an upload each, so
   * none can spoil another's. 1 to 64 letters, digits, hyphens or underscores; left out, the upload
   * is the account's.
   */
  readonly owner?: string;
}

/**
 * An open upload. The id follows from digest, length and owner, so beginning again finds the same
 * one.
 */
export interface UploadKey {
  readonly accountId: string;
  readonly uploadId: string;
}

/** A URL of the object store itself, good for this one part until it expires. */
export interface DirectPut {
  readonly method: 'PUT';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresAtMs: number;
}

export interface PartPlan {
  /** From 1. */
  readonly n: number;
  readonly offset: number;
  readonly bytes: number;
}

export interface MissingPart extends PartPlan {
  /** Null where the part goes through `putPart`. */
  readonly direct: DirectPut | null;
}

export interface Upload extends ArtifactDescription, UploadKey {
  /** The length of every part but the last. */
  readonly partBytes: number;
  readonly startedAtMs: number;
  /** In order. Empty: ready for `complete`. */
  readonly missing: readonly MissingPart[];
}

export type BegunUpload =
  | { readonly state: 'present'; readonly artifact: StoredArtifact }
  | { readonly state: 'uploading'; readonly upload: Upload };

export interface OpenedArtifact {
  readonly artifact: StoredArtifact;
  /** Both inclusive, as in Content-Range. */
  readonly first: number;
  readonly last: number;
  /** Exactly those bytes, or an error; to be read to its end or destroyed. */
  readonly stream: Readable;
}

export interface AbandonedUpload extends UploadKey {
  /** When it was begun, or its last part came. */
  readonly activeAtMs: number;
}

/**
 * Content-addressed storage of artifacts, uploaded in parts. Several processes may share one
 * store, and several uploads of the same content may go on at once: those of one owner find their
 * parts in the same open upload. Nothing is visible before its whole has been read and its digest found
 * right. Every method takes a signal, rejects with its reason when it aborts, and else rejects
 * with nothing but an ArtifactError.
 */
export interface ArtifactStore {
  readonly kind: 'local-disk' | 's3';

  /**
   * Opens an upload, finds the one that is open already, or tells that the content is here.
   * Errors: ARTIFACT_INVALID, ARTIFACT_TOO_LARGE.
   */
  begin(upload: NewUpload, signal: AbortSignal): Promise<BegunUpload>;

  /** What an open upload still lacks. Errors: ARTIFACT_UPLOAD_NOT_FOUND. */
  upload(key: UploadKey, signal: AbortSignal): Promise<Upload>;

  /**
   * Stores one part; when it resolves, the part survives a crash. A part that is there already is
   * replaced. Where this fails the source is neither ended nor destroyed, unless the signal
   * aborted: the caller may still want its socket for an answer.
   * Errors: ARTIFACT_PART_LENGTH, ARTIFACT_UPLOAD_NOT_FOUND, ARTIFACT_INVALID (no such part).
   */
  putPart(key: UploadKey, n: number, source: Readable, signal: AbortSignal): Promise<void>;

  /**
   * Checks the whole against its digest and makes it visible. Harmless when it was completed
   * before, also by somebody else.
   * Errors: ARTIFACT_PARTS_MISSING, ARTIFACT_DIGEST_MISMATCH, ARTIFACT_UPLOAD_NOT_FOUND.
   */
  complete(key: UploadKey, signal: AbortSignal): Promise<StoredArtifact>;

  /** Null where there is no such artifact. */
  stat(key: ArtifactKey, signal: AbortSignal): Promise<StoredArtifact | null>;

  /**
   * Opens all of it (null) or a range. The signal also ends the stream.
   * Errors: ARTIFACT_NOT_FOUND, ARTIFACT_RANGE; on the stream ARTIFACT_DAMAGED and `environment`.
   */
  open(key: ArtifactKey, range: ByteRange | null, signal: AbortSignal): Promise<OpenedArtifact>;

  /** Whether there was one. Streams that are open already go on where the store allows it. */
  remove(key: ArtifactKey, signal: AbortSignal): Promise<boolean>;

  /** Drops an open upload with all its parts. Whether there was one. */
  discard(key: UploadKey, signal: AbortSignal): Promise<boolean>;

  /** The open uploads of all accounts in which nothing has come since `beforeMs` (wall clock). */
  abandoned(beforeMs: number, signal: AbortSignal): AsyncIterable<AbandonedUpload>;

  /**
   * Removes what a crash left behind that belongs to no upload, where it was not touched since
   * `beforeMs` (wall clock). How many things went.
   */
  sweep(beforeMs: number, signal: AbortSignal): Promise<number>;

  /** Ends the store's own sockets. Streams are the callers' to end. */
  close(): Promise<void>;
}

export interface ArtifactStoreDeps {
  readonly clock: Clock;
  readonly log: Logger;
}
