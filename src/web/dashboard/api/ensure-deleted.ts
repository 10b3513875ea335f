import { ApiError } from './errors.ts';

/**
 * Waits for a deletion. Not found is a success: an earlier request deleted it whose response was lost, or somebody
 * else did.
 */
export async function ensureDeleted(answer: Promise<unknown>): Promise<void> {
  try {
    await answer;
  } catch (error) {
    // A 404 from another program, such as an ingress, does not name the kind of resource.
    const isGone = error instanceof ApiError && error.status === 404;
    if (!isGone || error.attributes.resource === undefined) throw error;
  }
}
