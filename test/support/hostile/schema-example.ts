import { z } from 'zod';

type Json = unknown;
export type Step = string | number;

const TEXTS = [
  'a',
  'http://a.test/',
  '2026-01-01T00:00:00.000Z',
  'a.txt',
  'text/plain',
  'dist/a.js',
  '0'.repeat(64),
  '00000000-0000-4000-8000-000000000000',
  '192.0.2.1',
  '$.a',
  '#fff',
];
const NUMBERS = [1, 5, 10, 200, 5000, 0, 0.5];

/**
 * A value that is valid by each part of the schema, with every known field, as a carrier for attack
 * texts. Ignores dependencies between fields.
 */
export function exampleOf(schema: z.ZodType): Json {
  const inner = innerOf(schema);
  if (inner !== null) return exampleOf(inner);
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape as Record<string, z.ZodType>);
    return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field)]));
  }
  if (schema instanceof z.ZodArray) return [exampleOf(schema.element as z.ZodType)];
  if (schema instanceof z.ZodRecord) return { a: exampleOf(schema.valueType as z.ZodType) };
  if (schema instanceof z.ZodEnum) return schema.options[0];
  if (schema instanceof z.ZodLiteral) return [...schema.values][0];
  if (schema instanceof z.ZodBoolean) return true;
  if (schema instanceof z.ZodNull) return null;
  const known = [...TEXTS, ...NUMBERS].find((value) => schema.safeParse(value).success);
  return known ?? 'a';
}

/** Unwraps the schema; from several it selects the one that accepts most fields. */
function innerOf(schema: z.ZodType): z.ZodType | null {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly
  ) {
    return schema.unwrap() as z.ZodType;
  }
  if (schema instanceof z.ZodPipe) {
    const [first, last] = [schema.in as z.ZodType, schema.out as z.ZodType];
    return last instanceof z.ZodTransform ? first : last;
  }
  if (schema instanceof z.ZodUnion) return (schema.options[0] as z.ZodType | undefined) ?? null;
  return null;
}

/** The texts and numbers in the value, with their paths. */
export function leavesOf(
  value: Json,
  path: readonly Step[] = [],
): readonly { readonly path: readonly Step[]; readonly value: Json }[] {
  if (typeof value === 'string' || typeof value === 'number') return [{ path, value }];
  if (typeof value !== 'object' || value === null) return [];
  const steps = Array.isArray(value) ? value.map((_, index) => index) : Object.keys(value);
  return steps.flatMap((step) => leavesOf(at(value, step), [...path, step]));
}

/** The base with the leaf at its path; missing parents are copied from the example. */
export function withLeaf(base: Json, example: Json, path: readonly Step[], leaf: Json): Json {
  const [step, ...rest] = path;
  if (step === undefined) return leaf;
  const holder = typeof base === 'object' && base !== null ? base : example;
  const inner = withLeaf(at(holder, step) ?? at(example, step), at(example, step), rest, leaf);
  if (Array.isArray(holder)) {
    return [...holder.slice(0, Number(step)), inner, ...holder.slice(Number(step) + 1)];
  }
  return { ...(holder as object), [step]: inner };
}

function at(value: Json, step: Step): Json {
  return typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined;
}
