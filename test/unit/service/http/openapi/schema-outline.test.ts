import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { outline } from '../../../../../src/service/http/openapi/schema-outline.ts';

function lines(schema: z.ZodType): readonly string[] {
  return outline(JSON.parse(JSON.stringify(z.toJSONSchema(schema))));
}

describe('the outline of a schema', () => {
  it('has a line for each field, with what is allowed', () => {
    const schema = z.object({
      name: z.string().min(1).max(20).describe('What people call it.'),
      count: z.int().min(0).default(3),
      kind: z.enum(['URL', 'TCP']).nullable(),
      id: z.uuid().optional(),
      any: z.unknown(),
    });
    expect(lines(schema)).toEqual([
      'name*: text, 1..20 characters – What people call it.',
      'count*: whole number, at least 0, default 3',
      'kind*: "URL" | "TCP" or null',
      'id: text (uuid)',
      'any*: anything',
    ]);
  });

  it('goes into objects, lists of them, and those that may be null', () => {
    const inner = z.object({ port: z.int().min(1).max(65_535) });
    const schema = z.object({ one: inner, many: z.array(inner).max(5), none: inner.nullable() });
    expect(lines(schema)).toEqual([
      'one*: object',
      '  port*: whole number, 1..65535',
      'many*: list of object, at most 5 items',
      '  port*: whole number, 1..65535',
      'none*: object or null',
      '  port*: whole number, 1..65535',
    ]);
  });

  it('distinguishes variants', () => {
    const schema = z.union([z.object({ a: z.boolean() }), z.object({ b: z.literal('x') })]);
    expect(lines(schema)).toEqual(['either object', '  a*: boolean', 'or object', '  b*: "x"']);
  });

  it('ends where a schema holds itself', () => {
    interface Tree {
      readonly [key: string]: unknown;
    }
    const tree: { properties: Record<string, Tree> } = { properties: {} };
    tree.properties.child = tree as unknown as Tree;
    expect(outline(tree).length).toBeLessThan(50);
  });
});
