import { fileEntryOf } from '../../model/logical-id.ts';

/** The name of the check file that manages a resource; null if no file with a name does. */
export function managingFileOf(logicalId: string | null | undefined): string | null {
  return fileEntryOf(logicalId ?? '').file;
}

/** Why a file may not manage a resource, as text that follows its id; null if it may. */
export function ownershipProblem(
  logicalId: string | null | undefined,
  fileName: string | null,
): string | null {
  const owner = managingFileOf(logicalId);
  if (owner === null || owner === fileName) return null;
  return `belongs to the check file with the name ${JSON.stringify(owner)}: give it another id, or set its logicalId to null by the API to manage it here`;
}
