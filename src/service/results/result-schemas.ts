import { z } from 'zod';
import { checkResultSchema } from '../../wire/v1/check-result.ts';

const { apiCheckResult, agenticCheckResult: _, ...fields } = checkResultSchema.shape;
const api = apiCheckResult.unwrap();
const { pcapDataUrl } = api.shape;

/** A result as the API shows it: fields that must not be null (specification, 2.4) are optional. */
export const shownResult = z.object({
  ...fields,
  apiCheckResult: z
    .object({
      ...api.shape,
      pcapDataUrl: pcapDataUrl
        .unwrap()
        .optional()
        .describe(pcapDataUrl.description ?? ''),
    })
    .meta({ title: 'HttpCheckResult' })
    .optional()
    .describe('Of URL and API checks.'),
});
