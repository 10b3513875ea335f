import { z } from 'zod';
import type { DocumentPath } from './file-problem.ts';

/** The definition of a path in the check schemas, for messages. */

/** Unwraps optional, default and nullable schemas. */
function bare(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  while (
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodOptional ||
    inner instanceof z.ZodNullable
  ) {
    inner = inner.unwrap();
  }
  return inner;
}

function isNullable(schema: z.core.$ZodType): boolean {
  if (schema instanceof z.ZodNullable) return true;
  return schema instanceof z.ZodDefault || schema instanceof z.ZodOptional
    ? isNullable(schema.unwrap())
    : false;
}

/** The schema of the value at the path, or null if the schemas have no such path. */
export function schemaAt(schema: z.core.$ZodType, path: DocumentPath): z.core.$ZodType | null {
  let at: z.core.$ZodType | undefined = schema;
  for (const step of path) {
    if (at === undefined) return null;
    const inner = bare(at);
    if (inner instanceof z.ZodArray) at = inner.element;
    else if (inner instanceof z.ZodObject) at = own(inner.shape, String(step));
    else return null;
  }
  return at ?? null;
}

/** The keys of the mapping at the path; empty if it is not a mapping. */
export function keysAt(schema: z.core.$ZodType, path: DocumentPath): readonly string[] {
  const at = schemaAt(schema, path);
  const inner = at === null ? null : bare(at);
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
}

/**
 * What the schema accepts, to follow "must be", for example `a whole number from 1 to 65535`, with
 * the unit if there is one.
 */
export function allowedBy(schema: z.core.$ZodType, unit: string | null = null): string {
  const value = allowedValue(bare(schema));
  const text = unit === null ? value : `${value} (${unit})`;
  return isNullable(schema) ? `${text}, or null` : text;
}

function allowedValue(schema: z.core.$ZodType): string {
  if (schema instanceof z.ZodEnum) return oneOf(schema.options);
  if (schema instanceof z.ZodLiteral) return oneOf([...schema.values]);
  if (schema instanceof z.ZodBoolean) return 'true or false';
  if (schema instanceof z.ZodNumber) return allowedNumber(schema);
  if (schema instanceof z.ZodString) return allowedText(schema.minLength, schema.maxLength);
  if (schema instanceof z.ZodArray) return allowedList(bare(schema.element));
  return 'a mapping';
}

function allowedList(element: z.core.$ZodType): string {
  const isPairs = element instanceof z.ZodObject && Object.hasOwn(element.shape, 'key');
  return isPairs ? 'a list of {key, value}' : 'a list';
}

function oneOf(values: readonly unknown[]): string {
  const texts = values.map(String);
  return texts.length === 1 ? (texts[0] ?? '') : `one of ${texts.join(', ')}`;
}

/** Zod limits whole numbers to those that a double represents exactly; this limit is not shown. */
function finite(bound: number | null): number | null {
  return bound === null || Math.abs(bound) >= Number.MAX_SAFE_INTEGER ? null : bound;
}

function allowedNumber(schema: z.ZodNumber): string {
  const kind = schema.isInt ? 'a whole number' : 'a number';
  const min = finite(schema.minValue);
  const max = finite(schema.maxValue);
  if (min !== null && max !== null) return `${kind} from ${min} to ${max}`;
  if (min !== null) return `${kind} of ${min} or more`;
  return max === null ? kind : `${kind} of ${max} or less`;
}

function allowedText(min: number | null, max: number | null): string {
  if (min !== null && max !== null) return `text of ${min} to ${max} characters`;
  if (min !== null) return `text of ${min} ${min === 1 ? 'character' : 'characters'} or more`;
  return max === null ? 'text' : `text of at most ${max} characters`;
}

function own(shape: Readonly<Record<string, z.core.$ZodType>>, key: string) {
  return Object.hasOwn(shape, key) ? shape[key] : undefined;
}
