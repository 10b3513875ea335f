import { z } from 'zod';

const WARNING_CODES = [
  'GROUP_NOT_ACTIVATED',
  'LOCATION_WITHOUT_AGENTS',
  'PICTURE_NOT_FETCHED',
  'PUBLIC_LOCATION_NOT_SERVED',
] as const;

/** Something in a resource that is valid but has no effect now. */
export interface Warning {
  readonly code: (typeof WARNING_CODES)[number];
  /** Sentences that say what has no effect, and what to do. */
  readonly message: string;
  /** The field in the resource, for example `privateLocations[0]`. */
  readonly path?: string;
}

/** The field of responses. Lists of resources do not have it, and ETags do not depend on it. */
export const warningsSchema = z
  .array(
    z
      .strictObject({
        code: z.enum(WARNING_CODES).describe('What has no effect, for programs.'),
        message: z.string().describe('What has no effect now, and what to do.'),
        path: z.string().optional().describe('The field, for example `privateLocations[0]`.'),
      })
      .meta({ title: 'Warning' }),
  )
  .optional()
  .describe(
    'What is stored but has no effect now; omitted if there is nothing, and in lists. Ignored in requests.',
  );

/** Removes the warnings of a resource, which are not part of its content. */
export function withoutWarnings(shown: unknown): unknown {
  if (typeof shown !== 'object' || shown === null || !('warnings' in shown)) return shown;
  const { warnings: _, ...content } = shown;
  return content;
}
