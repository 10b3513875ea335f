import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenApiDocument, operationsOf } from '../../../support/openapi/document.ts';
import { serviceDocument } from '../../../support/openapi/service-document.ts';
import { smallestBodies } from '../../../support/openapi/smallest-bodies.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const OPTIONS = ['--noEmit', '--strict', '--exactOptionalPropertyTypes'];
const BODIES = smallestBodies({
  slug: 'office',
  checkId: 'homepage',
  serviceId: 'b3d4f0a1-6f1e-4c57-9d6b-0a52f1f0c7aa',
  identity: { cert: 'a', key: 'a' },
});

const TYPES = `
import type { components, operations } from './api.d.ts';
type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never;
type Body<Id extends keyof operations> = Json<NonNullable<operations[Id]['requestBody']>>;
type Ok<Id extends keyof operations> = operations[Id]['responses'] extends { 200: infer R } ? Json<R> : never;
`;

/** Fields with defaults are always returned, and kinds of checks and of errors can be told apart. */
const READS = `
export function read(check: Ok<'getUrlCheck'>, any: Ok<'getCheck'>, list: Ok<'listChecks'>): unknown {
  const activated: boolean = check.activated;
  const tags: string[] = check.tags;
  const frequency: number = check.frequency;
  const port: number | null = any.checkType === 'TCP' ? any.request.port : null;
  const ids: string[] = list.map(({ id }) => id);
  return [activated, tags, frequency, port, ids];
}
export function explain(error: components['schemas']['BadRequestError']): string {
  const status: 400 = error.statusCode;
  return [status, ...(error.attributes.problems ?? []).map(({ path, message }) => path + message)].join();
}
`;

let document: OpenApiDocument;
const folder = makeTempFolder();

beforeAll(async () => {
  document = await serviceDocument();
  const types = execFileSync('node', ['test/support/openapi/generate-types.mjs'], {
    cwd: ROOT,
    input: JSON.stringify(document),
    maxBuffer: 16 * 1024 * 1024,
  });
  writeFileSync(join(folder.path, 'api.d.ts'), types);
}, 120_000);

afterAll(() => folder.remove());

/** What the compiler says about a client; empty if it compiles. */
function compiled(name: string, code: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, TYPES + code);
  const { status, stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), [...OPTIONS, path], {
    cwd: folder.path,
    encoding: 'utf8',
  });
  return status === 0 ? '' : stdout;
}

describe('the types that openapi-typescript makes of the document', () => {
  it('accept the smallest body of every operation that creates something', () => {
    const creating = operationsOf(document)
      .filter(({ operationId = '', body }) => operationId.startsWith('create') && body !== null)
      .map(({ operationId }) => operationId);
    expect(creating, 'add the smallest body to smallest-bodies.ts').toEqual(
      expect.arrayContaining(Object.keys(BODIES)),
    );
    expect(Object.keys(BODIES)).toEqual(expect.arrayContaining(creating));
    const code = Object.entries(BODIES).map(
      ([id, body]) => `export const ${id}: Body<'${id}'> = ${JSON.stringify(body)};`,
    );
    expect(compiled('bodies.ts', code.join('\n'))).toBe('');
  }, 120_000);

  it('refuse a body that lacks a field or has an unknown one', () => {
    const code = `
      export const noScript: Body<'createSnippet'> = { name: 'a' };
      export const other: Body<'createCheckGroup'> = { name: 'a', nmae: 'a' };`;
    const errors = compiled('wrong.ts', code);
    expect(errors).toContain("Property 'script' is missing");
    expect(errors).toContain("'nmae' does not exist");
  }, 120_000);

  it('have every field of a response that is always there', () => {
    expect(compiled('reads.ts', READS)).toBe('');
  }, 120_000);
});
