import { z } from 'zod';
import { CHECK_ID } from './ids.ts';

/** `ID`, or `NAME/ID`: both have the form of CHECK_ID. */
const LOGICAL_ID = /^(?:[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\/)?[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/;

/** The entry of a check file that a resource comes from. */
export interface FileEntryName {
  /** The `name` of the file; null if it has none. */
  readonly file: string | null;
  readonly id: string;
}

export function logicalIdOf({ file, id }: FileEntryName): string {
  return file === null ? id : `${file}/${id}`;
}

export function fileEntryOf(logicalId: string): FileEntryName {
  const slash = logicalId.indexOf('/');
  return slash < 0
    ? { file: null, id: logicalId }
    : { file: logicalId.slice(0, slash), id: logicalId.slice(slash + 1) };
}

/**
 * The field by which `vedette apply` finds the resources that it created: src/service/README.md,
 * "Checks as a file: `vedette apply`".
 */
export const logicalIdField = z
  .string()
  .refine((text) => LOGICAL_ID.test(text), {
    error: `must be the id of an entry of a check file (${CHECK_ID.source}), with the name of the file and / before it if the file has one`,
  })
  .meta({ pattern: LOGICAL_ID.source })
  .nullable()
  .default(null)
  .describe(
    'The id in the check file that manages it (`vedette apply`), with `NAME/` in front if the file has a name. Unique for its kind of resource; null if no file manages it.',
  );
