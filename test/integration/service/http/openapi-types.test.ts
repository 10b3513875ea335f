import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { channelTypesOf } from '../../../support/openapi/channel-fields.ts';
import { checkFieldsOf, numberLimitsOf } from '../../../support/openapi/check-fields.ts';
import { type OpenApiDocument, operationsOf } from '../../../support/openapi/document.ts';
import { changedBy, exampleChanges } from '../../../support/openapi/example-changes.ts';
import { serviceDocument } from '../../../support/openapi/service-document.ts';
import { smallestBodies } from '../../../support/openapi/smallest-bodies.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const DASHBOARD_TYPES = join(ROOT, 'src/web/dashboard/api/openapi.d.ts');
const DASHBOARD_FIELDS = join(ROOT, 'src/web/dashboard/api/check-fields.json');
const DASHBOARD_CHANNELS = join(ROOT, 'src/web/dashboard/api/channel-fields.json');
const DASHBOARD_LIMITS = join(ROOT, 'src/web/dashboard/api/number-limits.json');
const CHANNELS = `${JSON.stringify(channelTypesOf(), null, 2)}\n`;
const OPTIONS = ['--noEmit', '--strict', '--exactOptionalPropertyTypes'];
const BODIES = smallestBodies({
  agentSlug: 'office',
  slug: 'office',
  checkId: 'homepage',
  serviceId: 'b3d4f0a1-6f1e-4c57-9d6b-0a52f1f0c7aa',
  identity: { cert: 'a', key: 'a' },
});
const CHANGES = exampleChanges({ cert: 'a', key: 'a' });

const TYPES = `
import type { components, operations } from './api.d.ts';
type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never;
type Body<Id extends keyof operations> = Json<NonNullable<operations[Id]['requestBody']>>;
type Ok<Id extends keyof operations> = operations[Id]['responses'] extends { 200: infer R } ? Json<R> : never;
`;

/** Fields with defaults are always returned, and kinds of checks and of errors can be distinguished. */
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

const WRONG = `
export const noScript: Body<'createSnippet'> = { name: 'a' };
export const other: Body<'createCheckGroup'> = { name: 'a', nmae: 'a' };
`;

let document: OpenApiDocument;
let types = '';
let fields = '';
let limits = '';
const folder = makeTempFolder();

beforeAll(async () => {
  document = await serviceDocument();
  types = execFileSync('node', ['test/support/openapi/generate-types.mjs'], {
    cwd: ROOT,
    input: JSON.stringify(document),
    maxBuffer: 16 * 1024 * 1024,
    encoding: 'utf8',
  });
  fields = `${JSON.stringify(checkFieldsOf(document), null, 2)}\n`;
  limits = `${JSON.stringify(numberLimitsOf(document), null, 2)}\n`;
  if (process.env.UPDATE_DOCS === '1') {
    writeFileSync(DASHBOARD_TYPES, types);
    writeFileSync(DASHBOARD_FIELDS, fields);
    writeFileSync(DASHBOARD_CHANNELS, CHANNELS);
    writeFileSync(DASHBOARD_LIMITS, limits);
  }
  writeFileSync(join(folder.path, 'api.d.ts'), types);
}, 120_000);

afterAll(() => folder.remove());

/** What the compiler says about each client; empty if it compiles. One run, because each checks all types. */
function compile(clients: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const names = Object.keys(clients);
  for (const [name, code] of Object.entries(clients)) {
    writeFileSync(join(folder.path, name), TYPES + code);
  }
  const { status, stdout } = spawnSync(
    join(ROOT, 'node_modules/.bin/tsc'),
    [...OPTIONS, ...names],
    {
      cwd: folder.path,
      encoding: 'utf8',
    },
  );
  const errors = stdout.split(/\n(?=\S)/).filter((error) => error !== '');
  const others = errors.filter((error) => !names.some((name) => error.startsWith(`${name}(`)));
  if (others.length > 0 || status === null) throw new Error(`tsc: ${others.join('\n')}`);
  return new Map(
    names.map((name) => [name, errors.filter((error) => error.startsWith(`${name}(`)).join('\n')]),
  );
}

describe('the types that openapi-typescript makes of the document', () => {
  let errorsOf: ReadonlyMap<string, string>;
  beforeAll(() => {
    const bodies = Object.entries(BODIES).map(
      ([id, body]) => `export const ${id}: Body<'${id}'> = ${JSON.stringify(body)};`,
    );
    const changes = operationsOf(document).flatMap(({ operationId: id = '' }) => {
      const change = /^(put|update)[A-Z]/.test(id) ? CHANGES[changedBy(id)] : undefined;
      return change === undefined
        ? []
        : [`export const ${id}: Body<'${id}'> = ${JSON.stringify(change)};`];
    });
    errorsOf = compile({
      'bodies.ts': bodies.join('\n'),
      'changes.ts': changes.join('\n'),
      'wrong.ts': WRONG,
      'reads.ts': READS,
    });
  }, 120_000);

  it('accept the smallest body of every operation that creates something', () => {
    const creating = operationsOf(document)
      .filter(({ operationId = '', body }) => operationId.startsWith('create') && body !== null)
      .map(({ operationId }) => operationId);
    expect(creating, 'add the smallest body to smallest-bodies.ts').toEqual(
      expect.arrayContaining(Object.keys(BODIES)),
    );
    expect(Object.keys(BODIES)).toEqual(expect.arrayContaining(creating));
    expect(errorsOf.get('bodies.ts')).toBe('');
  });

  it('accept the example of every change', () => {
    expect(errorsOf.get('changes.ts')).toBe('');
  });

  it('refuse a body that lacks a field or has an unknown one', () => {
    expect(errorsOf.get('wrong.ts')).toContain("Property 'script' is missing");
    expect(errorsOf.get('wrong.ts')).toContain("'nmae' does not exist");
  });

  it('have every field of a response that is always there', () => {
    expect(errorsOf.get('reads.ts')).toBe('');
  });

  it('are those that the dashboard uses', () => {
    const isCurrent = readFileSync(DASHBOARD_TYPES, 'utf8') === types;
    expect(isCurrent, '`npm run api-types` writes the current ones').toBe(true);
  });
});

describe('the fields of checks in the document', () => {
  it("are those of the dashboard's form", () => {
    const isCurrent = readFileSync(DASHBOARD_FIELDS, 'utf8') === fields;
    expect(isCurrent, '`npm run api-types` writes the current ones').toBe(true);
  });
});

describe('the bounds of numbers in the document', () => {
  it('are those of the other forms of the dashboard', () => {
    const isCurrent = readFileSync(DASHBOARD_LIMITS, 'utf8') === limits;
    expect(isCurrent, '`npm run api-types` writes the current ones').toBe(true);
  });
});

describe('the fields of channels that send to services', () => {
  it("are those of the dashboard's form", () => {
    const isCurrent = readFileSync(DASHBOARD_CHANNELS, 'utf8') === CHANNELS;
    expect(isCurrent, '`npm run api-types` writes the current ones').toBe(true);
  });
});
