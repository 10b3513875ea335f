import type { ArtifactDescription, BegunUpload, StoredArtifact, Upload } from './artifact-store.ts';
import { ArtifactError, otherLength } from './errors.ts';

/** A further attempt is only needed if another process ends the upload at that moment. */
const MAX_ATTEMPTS = 3;

/**
 * Opens an upload unless the content is stored. If another process ends the upload between the two steps,
 * checks again whether the content is stored, and if not, opens the upload again.
 *
 * @param open throws ARTIFACT_UPLOAD_NOT_FOUND if the upload ended meanwhile
 */
export async function openUnlessStored(
  { bytes }: ArtifactDescription,
  find: () => Promise<StoredArtifact | null>,
  open: () => Promise<Upload>,
): Promise<BegunUpload> {
  for (let attempt = 1; ; attempt += 1) {
    const artifact = await find();
    if (artifact !== null) {
      if (artifact.bytes !== bytes) throw otherLength(artifact);
      return { state: 'present', artifact };
    }
    try {
      return { state: 'uploading', upload: await open() };
    } catch (error) {
      const isGone = error instanceof ArtifactError && error.code === 'ARTIFACT_UPLOAD_NOT_FOUND';
      if (!isGone || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
