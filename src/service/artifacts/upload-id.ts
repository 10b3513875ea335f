import { stableId } from '../../model/ids.ts';
import { uploadIdOf } from '../object-store/names.ts';

/** What the wire calls an upload says which artifact it is to become. */
export interface ParsedUploadId {
  readonly artifactId: string;
  /** A replica of the release before began it, which knew no location. */
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

/** Null for anything that is not one of ours. */
export function parseUploadId(uploadId: string): ParsedUploadId | null {
  const [, artifactId, suffix] = UPLOAD_ID.exec(uploadId) ?? [];
  return artifactId === undefined ? null : { artifactId, isWithoutLocation: suffix === undefined };
}

/**
 * The rows in which an artifact of a location may be: the release before looks for it by its own id.
 * Where another location's artifact is there already, it is in the second one.
 */
export function artifactRowIds(artifactId: string, location: string): readonly string[] {
  return [artifactId, stableId('artifact of a location', artifactId, location)];
}
