import { randomUUID } from 'node:crypto';
import { VedetteError } from '../../../runtime/errors.ts';
import type { ArtifactKey, UploadKey } from '../artifact-store.ts';
import { checkArtifactKey, checkUploadKey, isUploadKey } from '../names.ts';

const PREFIX = /^(?:[A-Za-z0-9_-]+\/)*$/;

/**
 * The keys in the bucket:
 * - `artifacts/ACCOUNT/2 digits/DIGEST`: visible; written by one copy
 * - `uploads/ACCOUNT/UPLOAD`: the state of an open upload
 * - `staging/ACCOUNT/UPLOAD/random`: the target of its multipart upload, not yet checked
 */
export class S3Layout {
  readonly #prefix: string;

  /** Throws a `config` error for a prefix with which two different keys could be equal. */
  constructor(prefix: string) {
    if (!PREFIX.test(prefix)) {
      const message =
        'The prefix of artifacts in the bucket must be empty, or names of letters, digits, hyphens and underscores, each with a slash after it';
      throw new VedetteError('config', 'ARTIFACT_PREFIX', message);
    }
    this.#prefix = prefix;
  }

  get states(): string {
    return `${this.#prefix}uploads/`;
  }

  get allStaging(): string {
    return `${this.#prefix}staging/`;
  }

  artifact(key: ArtifactKey): string {
    checkArtifactKey(key);
    const { accountId, sha256 } = key;
    return `${this.#prefix}artifacts/${accountId}/${sha256.slice(0, 2)}/${sha256}`;
  }

  state(key: UploadKey): string {
    checkUploadKey(key);
    return `${this.states}${key.accountId}/${key.uploadId}`;
  }

  staging(key: UploadKey): string {
    checkUploadKey(key);
    return `${this.allStaging}${key.accountId}/${key.uploadId}/`;
  }

  newStaging(key: UploadKey): string {
    return this.staging(key) + randomUUID();
  }

  /** The upload of a key below `states` or `allStaging`; null for foreign keys. */
  uploadOf(key: string): UploadKey | null {
    const [, accountId = '', uploadId = ''] = key.slice(this.#prefix.length).split('/');
    const upload = { accountId, uploadId };
    return isUploadKey(upload) ? upload : null;
  }
}
