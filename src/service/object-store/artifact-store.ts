import type { Readable } from 'node:stream';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ByteRange } from './byte-range.ts';

/** S3 accepts smaller parts only as the last one. */
export const MIN_PART_BYTES = 5 * 1024 * 1024;

export const DEFAULT_PART_BYTES = 8 * 1024 * 1024;

/**
 * Identifies an artifact. Content is addressed by its digest within one account. If contents were shared across
 * accounts, a client that knows a digest could claim to upload it, learn that it exists in another account, and
 * read it.
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
   * Each owner has its own upload of the same content, so owners cannot corrupt each other's uploads. 1 to 64
   * letters, digits, hyphens or underscores. Default: the upload belongs to the account.
   */
  readonly owner?: string;
}

/**
 * An open upload. Its id is derived from digest, length and owner, so beginning again resumes the same upload.
 */
export interface UploadKey {
  readonly accountId: string;
  readonly uploadId: string;
}

/** A presigned URL of the object store, valid for this one part until it expires. */
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
  /** Null if the part goes through `putPart`. */
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
  /** When the upload began or its last part arrived. */
  readonly activeAtMs: number;
}

/**
 * Content-addressed storage of artifacts, uploaded in parts. Several processes may share one store,
 * and several uploads of the same content may run at once: those of one owner share one open upload.
 * Content is visible only after its digest was verified. Every method takes a signal, rejects with its
 * reason when it aborts, and otherwise rejects only with an ArtifactError.
 */
export interface ArtifactStore {
  readonly kind: 'local-disk' | 's3';

  /**
   * Opens an upload, or returns the open one or the stored content.
   * Errors: ARTIFACT_INVALID, ARTIFACT_TOO_LARGE.
   */
  begin(upload: NewUpload, signal: AbortSignal): Promise<BegunUpload>;

  /** An open upload. Errors: ARTIFACT_UPLOAD_NOT_FOUND. */
  upload(key: UploadKey, signal: AbortSignal): Promise<Upload>;

  /**
   * Stores or replaces one part. Once it resolves, the part survives a crash. If it fails, the source is neither
   * ended nor destroyed, unless the signal aborted: the caller may still need the socket for a response.
   * Errors: ARTIFACT_PART_LENGTH, ARTIFACT_UPLOAD_NOT_FOUND, ARTIFACT_INVALID (no such part).
   */
  putPart(key: UploadKey, n: number, source: Readable, signal: AbortSignal): Promise<void>;

  /**
   * Verifies the digest and makes the content visible. Idempotent, also across processes.
   * Errors: ARTIFACT_PARTS_MISSING, ARTIFACT_DIGEST_MISMATCH, ARTIFACT_UPLOAD_NOT_FOUND.
   */
  complete(key: UploadKey, signal: AbortSignal): Promise<StoredArtifact>;

  /** Null if there is no such artifact. */
  stat(key: ArtifactKey, signal: AbortSignal): Promise<StoredArtifact | null>;

  /**
   * Opens the whole content (null) or a range. The signal also ends the stream.
   * Errors: ARTIFACT_NOT_FOUND, ARTIFACT_RANGE; on the stream ARTIFACT_DAMAGED and `environment`.
   */
  open(key: ArtifactKey, range: ByteRange | null, signal: AbortSignal): Promise<OpenedArtifact>;

  /** Returns whether the artifact existed. Open streams continue if the store allows it. */
  remove(key: ArtifactKey, signal: AbortSignal): Promise<boolean>;

  /** Drops an open upload with all its parts. Returns whether there was one. */
  discard(key: UploadKey, signal: AbortSignal): Promise<boolean>;

  /** The open uploads of all accounts without a new part since `beforeMs` (wall clock). */
  abandoned(beforeMs: number, signal: AbortSignal): AsyncIterable<AbandonedUpload>;

  /**
   * Removes leftovers of crashes that belong to no upload and were not modified since `beforeMs` (wall
   * clock). Returns how many.
   */
  sweep(beforeMs: number, signal: AbortSignal): Promise<number>;

  /** Closes the store's own sockets. Callers must end their streams. */
  close(): Promise<void>;
}

export interface ArtifactStoreParts {
  readonly clock: Clock;
  readonly log: Logger;
}
