import { uploadIdOf } from '../artifacts/names.ts';

/**
 * What the wire calls an upload: the artifact that it is to become, and the content, by which the
 * artifact store knows it.
 */
export interface ParsedUploadId {
  readonly artifactId: string;
  /** The artifact store's own id of the upload. */
  readonly contentUploadId: string;
}

const UPLOAD_ID = /^([0-9a-f-]{36})\.([0-9a-f]{64}\.[1-9][0-9]{0,8})$/;

export function artifactUploadIdOf(
  artifactId: string,
  content: { readonly sha256: string; readonly bytes: number },
): string {
  return `${artifactId}.${uploadIdOf(content)}`;
}

/** Null for anything that is not one of ours. */
export function parseUploadId(uploadId: string): ParsedUploadId | null {
  const [, artifactId, contentUploadId] = UPLOAD_ID.exec(uploadId) ?? [];
  return artifactId === undefined || contentUploadId === undefined
    ? null
    : { artifactId, contentUploadId };
}
