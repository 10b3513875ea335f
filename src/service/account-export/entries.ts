import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { assertionProblems } from '../../model/check/assertions/assertion-problems.ts';
import { checkBodySchema } from '../../model/check/check.ts';
import { entrySchemaOf, replacedFields, type Section } from '../../model/check-file/sections.ts';
import { isFields } from '../../model/credentials/credential-fields.ts';
import { maskProblems } from '../../model/credentials/retained-credentials.ts';
import { checkEntryOf } from '../checks/check-file.ts';
import { inOrderOf } from './key-order.ts';
import { variablesWithPlaceholders, withPlaceholders } from './placeholders.ts';

export type Entry = Readonly<Record<string, unknown>>;

/**
 * Converts a resource to an entry of a section, without the fields that have their default value.
 *
 * @param shown the resource as the API shows it; fields that a check file does not have are omitted
 * @returns null if a check file with this entry would be invalid
 */
export function sectionEntryOf(section: Section, id: string, shown: Entry): Entry | null {
  const schema = entrySchemaOf(section, shown.type);
  if (schema === null) return null;
  const replaced = replacedFields(section);
  const names = Object.keys(schema.shape).filter((name) => !replaced.has(name));
  const given = Object.entries(shown).filter(
    ([name, value]) => names.includes(name) && value !== undefined,
  );
  const fields = Object.fromEntries(given);
  const whole = schema.safeParse(fields);
  if (!whole.success) return null;
  return { id, ...withoutDefaults(schema, fields, whole.data) };
}

function withoutDefaults(schema: z.ZodObject, fields: Entry, whole: unknown): Entry {
  const isNeeded = (name: string): boolean => {
    const { [name]: _, ...rest } = fields;
    return !isDeepStrictEqual(schema.safeParse(rest).data, whole);
  };
  const short = Object.entries(fields).filter(([name]) => isNeeded(name));
  return ordered(Object.fromEntries(short), whole);
}

interface CheckEntry {
  readonly entry: Entry;
  /** Whether it has placeholders for secrets. */
  readonly hasPlaceholders: boolean;
}

/**
 * Converts a check to an entry without the fields that have their default value. References still contain
 * ids of the service, not ids of entries.
 *
 * @param shown the check as the API shows it
 * @returns null if a check file with it would be refused
 */
export function fileCheckOf(shown: Entry): CheckEntry | null {
  const { id, ...short } = checkEntryOf(shown);
  const { request, isChanged: hidesCredentials } = withPlaceholders(short.request);
  const { variables, isChanged: hidesValues } = variablesWithPlaceholders(short.variables);
  const fields = { ...short, request, ...(variables === undefined ? {} : { variables }) };
  const whole = checkBodySchema.safeParse(fields);
  if (!whole.success) return null;
  const { request: parsed } = whole.data;
  const problems = [...assertionProblems(parsed.assertions, parsed), ...maskProblems(parsed)];
  if (problems.length > 0) return null;
  return {
    entry: { id, ...ordered(fields, whole.data) },
    hasPlaceholders: hidesCredentials || hidesValues,
  };
}

function ordered(fields: Entry, whole: unknown): Entry {
  const result = inOrderOf(fields, whole);
  return isFields(result) ? result : fields;
}
