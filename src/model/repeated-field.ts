import { z } from 'zod';

/** A field of a response in a request, so that what was read can be sent back. */
export const repeatedField = z
  .unknown()
  .optional()
  .meta({ readOnly: true })
  .describe('As in responses. Ignored in requests.');
