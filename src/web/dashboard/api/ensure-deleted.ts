import { ApiError } from './errors.ts';

/**
 * Waits for a deletion. Not found is a success: an earlier request deleted it whose response was lost, or somebody
 * else did.
 */
export async function ensureDeleted(answer: Promise<unknown>): Promise<void> {
  try {
    await answer;
  } catch (error) {
    // Another program on the way, such as an ingress, answers 404 without the kind of resource.
    const isGone = error instanceof ApiError && error.status === 404;
    if (!isGone || error.attributes.resource === undefined) throw error;
  }
}
