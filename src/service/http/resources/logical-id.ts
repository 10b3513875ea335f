import { StoreError } from '../../database/store-errors.ts';
import { conflict } from '../../errors.ts';
import type { RawBody } from './given-fields.ts';

/** The unique indexes of logical ids are named after their tables: `check_groups_logical_id`. */
const INDEX_NAME = /_logical_id$/;

/**
 * Runs a write of a resource that may have a logical id.
 *
 * @param path the path of the list of its kind
 * @throws ServiceError 409 where another resource of the kind has the same one
 */
export async function withUniqueLogicalId<T>(
  path: string,
  { logicalId }: RawBody,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (thrown) {
    const isTaken = thrown instanceof StoreError && INDEX_NAME.test(thrown.constraint ?? '');
    if (!isTaken) throw thrown;
    throw conflict(
      `Another entry of ${path} has the logicalId ${String(logicalId)}: give this one another, or change that one first`,
      { logicalId },
    );
  }
}
