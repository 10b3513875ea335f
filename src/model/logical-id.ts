import { z } from 'zod';
import { CHECK_ID } from './ids.ts';

/** The field by which `vedette apply` finds what it made: src/service/README.md, "Checks as a file: `vedette apply`". */
export const logicalIdField = z
  .string()
  .refine((text) => CHECK_ID.test(text), {
    error:
      'must be 1 to 100 letters, digits, dots, dashes and underscores that start with a letter or digit',
  })
  .meta({ pattern: CHECK_ID.source })
  .nullable()
  .default(null)
  .describe(
    'The id in the check file that manages it (`vedette apply`), unique among those of its kind; null if none does.',
  );
