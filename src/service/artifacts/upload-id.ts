import { stableId } from '../../model/ids.ts';
import { uploadIdOf } from '../object-store/names.ts';

/** The id of an upload on the wire contains the id of its artifact. */
export interface ParsedUploadId {
  readonly artifactId: string;
  /** A replica of the previous release began it, and did not store a location. */
  readonly isWithoutLocation: boolean;
}

/** Two locations may upload the same content to the same artifact id, each in its own upload. */
const LOCATION_CHARS = 12;
const UPLOAD_ID = /^([0-9a-f-]{36})\.[0-9a-f]{64}\.[1-9][0-9]{0,8}(\.[0-9a-f]{12})?$/;

export function artifactUploadIdOf(
  artifactId: string,
  location: string,
  content: { readonly sha256: string; readonly bytes: number },
): string {
  const suffix = stableId('location', location).slice(-LOCATION_CHARS);
  return `${artifactId}.${uploadIdOf(content)}.${suffix}`;
}

/** null for a text that is no upload id. */
export function parseUploadId(uploadId: string): ParsedUploadId | null {
  const [, artifactId, suffix] = UPLOAD_ID.exec(uploadId) ?? [];
  return artifactId === undefined ? null : { artifactId, isWithoutLocation: suffix === undefined };
}

/**
 * The ids of the rows where an artifact of a location may be. The first is its own id, where the previous
 * release expects it; the second is for when another location's artifact is in the first.
 */
export function artifactRowIds(artifactId: string, location: string): readonly string[] {
  return [artifactId, stableId('artifact of a location', artifactId, location)];
}
