import { describe, expect, it } from 'vitest';
import { ensureDeleted } from '../../../../../src/web/dashboard/api/ensure-deleted.ts';
import { errorOf } from '../../../../../src/web/dashboard/api/errors.ts';

const notFound = (attributes: Readonly<Record<string, unknown>>) =>
  errorOf(new Response(null, { status: 404 }), { message: 'There is no such key', attributes });

describe('a deletion', () => {
  it('has succeeded if the service no longer has it', async () => {
    await expect(ensureDeleted(Promise.reject(notFound({ resource: 'key' })))).resolves.toBe(
      undefined,
    );
  });

  it('has failed if a proxy between the page and the service answers 404', async () => {
    const error = errorOf(new Response(null, { status: 404 }), null);
    await expect(ensureDeleted(Promise.reject(error))).rejects.toBe(error);
  });
});
