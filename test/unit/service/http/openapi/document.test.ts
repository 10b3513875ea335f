import { beforeAll, describe, expect, it } from 'vitest';
import { RESERVED_CHECK_IDS } from '../../../../../src/model/ids.ts';
import {
  type DocumentResponse,
  type JsonSchema,
  type OpenApiDocument,
  type Operation,
  operationsOf,
} from '../../../../support/openapi/document.ts';
import { serviceDocument } from '../../../../support/openapi/service-document.ts';

let document: OpenApiDocument;
let operations: readonly Operation[];

beforeAll(async () => {
  document = await serviceDocument();
  operations = operationsOf(document);
});

/** The names of the operations that are wrong. */
function wrong(isWrong: (operation: Operation) => boolean): readonly string[] {
  return operations.filter(isWrong).map(({ name }) => name);
}

describe('the name of every operation', () => {
  it('is declared by its route', () => {
    const missing = wrong(({ operationId }) => !/^[a-z][a-zA-Z0-9]+$/.test(operationId ?? ''));
    expect(missing, 'add operationId before the summary, such as getSnippet').toEqual([]);
  });

  it('is that of one operation only', () => {
    const ids = operations.map(({ operationId }) => operationId);
    const twice = operations.filter(({ operationId }, index) => ids.indexOf(operationId) !== index);
    expect(twice.map(({ name }) => name)).toEqual([]);
  });
});

describe('the schema of every JSON body', () => {
  /** Whether a schema is neither a component nor a list of a component. */
  const isInline = ({ $ref, items, anyOf = [] }: JsonSchema): boolean => {
    const [only, ...others] = anyOf.filter(({ type }) => type !== 'null');
    if (only !== undefined && others.length === 0) return isInline(only);
    return $ref === undefined && items?.$ref === undefined;
  };
  const jsonOf = ({ content }: DocumentResponse) => content?.['application/json']?.schema;

  it('has a name', () => {
    const inline = wrong(({ body, responses }) =>
      [body ?? undefined, ...Object.values(responses).map(jsonOf)].some(
        (schema) => schema !== undefined && isInline(schema),
      ),
    );
    // Their bodies have any fields of any type of check.
    const any = ['PUT /v1/checks/{id}', 'PATCH /v1/checks/{id}'];
    expect(inline, 'name it by meta({ title }) of its zod schema').toEqual(any);
  });

  it('has a name that no other schema has', () => {
    const numbered = Object.keys(document.components.schemas).filter((name) => /\d$/.test(name));
    expect(numbered, 'another schema has the name: give one of them meta({ title })').toEqual([]);
  });

  it('is apart from those of responses', () => {
    const shared = new Set(JSON.stringify(operations.map(({ body }) => body)).match(REFERENCES));
    const returned = operations.flatMap(({ responses }) => JSON.stringify(responses));
    expect(
      [...shared].filter((reference) => returned.some((text) => text.includes(reference))),
    ).toEqual([]);
    expect([...shared].filter((reference) => !/(Input|Changes)"$/.test(reference))).toEqual([]);
  });

  it('leaves each reference of the document with a component', () => {
    const components: unknown = document.components;
    const text = JSON.stringify(document);
    const broken = [...new Set(text.match(/"#\/components\/[^"]+"/g))].filter((reference) => {
      const [, , kind = '', name = ''] = reference.slice(1, -1).split('/');
      return Reflect.get(Object(Reflect.get(Object(components), kind)), name) === undefined;
    });
    expect(broken).toEqual([]);
  });
});

const REFERENCES = /"#\/components\/schemas\/\w+"/g;

describe('every operation', () => {
  it('says how its caller is authenticated', () => {
    expect(wrong(({ security }) => security === undefined)).toEqual([]);
    const isOpen = ({ security = [] }: Operation) => security.length === 0;
    expect(wrong((one) => isOpen(one) !== (one.role === null && !one.isForUsers))).toEqual([]);
  });

  it('for a key or a user may be about an account, and says what 401, 403 and 429 look like', () => {
    const closed = operations.filter(({ role }) => role !== null);
    expect(closed.length).toBeGreaterThan(140);
    const incomplete = closed.filter(
      ({ parameters = [], responses }) =>
        !parameters.some(({ name }) => name === 'x-service-account') ||
        [401, 403, 429].some((status) => responses[status]?.$ref === undefined),
    );
    expect(incomplete.map(({ name }) => name)).toEqual([]);
  });

  it('with a path of a resource says what 404 looks like', () => {
    expect(
      wrong(({ path, responses }) => path.includes('{') && responses[404] === undefined),
    ).toEqual([]);
  });
});

describe('the document', () => {
  it('describes the headers of lists, of conditional requests and of repeated ones', () => {
    const headers = (id: string, status: number) =>
      Object.keys(
        operations.find(({ operationId }) => operationId === id)?.responses[status]?.headers ?? {},
      );
    const sent = (id: string) =>
      (operations.find(({ operationId }) => operationId === id)?.parameters ?? [])
        .filter((parameter) => parameter.in === 'header')
        .map(({ name }) => name);
    expect(headers('listChecks', 200)).toEqual(
      expect.arrayContaining(['Link', 'X-Next-Cursor', 'X-Total-Count', 'X-RateLimit-Limit']),
    );
    expect(headers('getCheck', 200)).toContain('ETag');
    expect(headers('createCheck', 201)).toEqual(
      expect.arrayContaining(['Location', 'Idempotent-Replayed']),
    );
    expect(sent('getCheck')).toEqual(['x-service-account', 'If-None-Match']);
    expect(sent('putUrlCheck')).toEqual(['x-service-account', 'If-Match', 'If-None-Match']);
    expect(sent('createCheck')).toEqual(['x-service-account', 'Idempotency-Key']);
  });

  it('says that a new check needs a location, which its schema cannot say', () => {
    const creating = operations.filter(
      ({ operationId = '' }) => /^create\w*Check$/.test(operationId) && !/Heart/.test(operationId),
    );
    expect(creating).toHaveLength(6);
    for (const { path, method } of creating) {
      const { description } = Object(document.paths[path])[method.toLowerCase()];
      expect(description).toContain('at least one location: in `privateLocations`');
    }
    const { properties } = Object(document.components.schemas.UrlCheckInput);
    for (const field of ['locations', 'privateLocations']) {
      expect(properties[field].description).toContain('a check needs at least one location');
    }
  });

  it('refuses the other paths below /v1/checks as ids of checks of any type', () => {
    const paths = operations.flatMap(({ method, path }) => {
      const [, name] = /^\/v1\/checks\/([^/{]+)$/.exec(path) ?? [];
      return method === 'GET' && name !== undefined ? [name] : [];
    });
    expect(paths).toContain('heartbeats');
    // A path without GET, such as `/v1/checks/bulk`, hides no check.
    expect(paths.filter((name) => !RESERVED_CHECK_IDS.includes(name))).toEqual([]);
    const ofAny = operations.filter(({ path }) => path === '/v1/checks/{id}');
    expect(ofAny.map(({ method }) => method).sort()).toEqual(['DELETE', 'GET', 'PATCH', 'PUT']);
    for (const { parameters = [] } of ofAny) {
      const { schema } = parameters.find(({ name }) => name === 'id') ?? {};
      const refused = new RegExp(schema?.not?.pattern ?? '', 'u');
      expect(RESERVED_CHECK_IDS.filter((id) => !refused.test(id))).toEqual([]);
      expect(refused.test('Heartbeats')).toBe(true);
      expect(refused.test('home')).toBe(false);
    }
  });

  it('names the ids that no new check can have wherever a PUT may create one', () => {
    const creating = operations.filter(
      ({ method, path }) => method === 'PUT' && /^\/v1\/checks\/(\w+\/)?\{id\}$/.test(path),
    );
    expect(creating).toHaveLength(7);
    for (const { parameters = [] } of creating) {
      const { description, schema } = parameters.find(({ name }) => name === 'id') ?? {};
      expect(description).toContain('url, api, tcp, dns, icmp, heartbeat or heartbeats');
      expect(schema).toMatchObject({ type: 'string', pattern: expect.any(String) });
    }
  });

  it('describes the stream of events beside their list, and that a cursor may be too old', () => {
    const streams = operations.filter(({ responses }) =>
      Object.values(responses).some(({ content = {} }) => 'text/event-stream' in content),
    );
    expect(streams.map(({ operationId }) => operationId)).toEqual(['listEvents']);
    const [{ parameters = [], responses } = {}] = streams;
    expect(Object.keys(responses?.[200]?.content ?? {})).toEqual([
      'application/json',
      'text/event-stream',
    ]);
    expect(parameters).toContainEqual(
      expect.objectContaining({ name: 'Last-Event-ID', in: 'header', required: false }),
    );
    expect(responses?.[410]?.$ref).toBe('#/components/responses/Gone');
    const gone = operations.filter((operation) => operation.responses[410] !== undefined);
    expect(gone.map(({ operationId }) => operationId)).toEqual(['listEvents']);
  });

  it('requires a body only where the service does', () => {
    const optional = operations.filter(({ requestBody }) => requestBody?.required === false);
    expect(optional.map(({ operationId }) => operationId)).toEqual(['runCheck', 'runCheckGroup']);
  });

  it('names the service by PUBLIC_URL, or else by where it was read', async () => {
    expect(document.servers).toEqual([{ url: '/' }]);
    const { servers } = await serviceDocument('https://status.example.com');
    expect(servers).toEqual([{ url: 'https://status.example.com' }]);
  });

  it('has examples of what changes a check of any type, whose body has no name', () => {
    const ofAny = Object(document.paths['/v1/checks/{id}']);
    for (const { requestBody } of [ofAny.put, ofAny.patch]) {
      const { schema } = requestBody.content['application/json'];
      expect(schema, '`npm run examples` writes it').toMatchObject({
        type: 'object',
        examples: [{ frequency: 5 }],
      });
    }
    expect(document.components.schemas.SnippetChanges).toMatchObject({
      examples: [{ name: 'Sign in to the shop' }],
    });
  });

  it('has the defaults of queries and of bodies', () => {
    const list = operations.find(({ operationId }) => operationId === 'listChecks');
    const limit = list?.parameters?.find(({ name }) => name === 'limit');
    expect(limit?.schema).toMatchObject({ default: 10 });
    expect(document.components.schemas.UrlCheckInput).toMatchObject({
      properties: { activated: { allOf: [{ type: 'boolean', default: true }] } },
      required: ['name', 'request'],
    });
    expect(document.components.schemas.UrlCheck).toMatchObject({
      required: expect.arrayContaining(['activated']),
    });
  });
});
