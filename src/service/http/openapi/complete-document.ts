import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import { describeOperation, type OperationFacts } from './describe-operation.ts';
import { readExamples } from './examples.ts';
import { asObject, type Json, NamedSchemas } from './named-schemas.ts';
import { standardComponents } from './standard-parts.ts';

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);

export interface DocumentParts {
  /** Keyed by operation, such as `GET /v1/checks/{id}`. */
  readonly facts: ReadonlyMap<string, OperationFacts>;
  /** The URL of the service from outside; null if it is not configured. */
  readonly publicUrl: string | null;
}

/**
 * Returns the document for programs: adds operation ids, errors, headers and named schemas to the document
 * that is derived from the schemas of the routes. Yields to the event loop after each operation.
 */
export async function completeDocument(document: object, parts: DocumentParts): Promise<Json> {
  const { paths: _, components, ...rest } = document as Json;
  const { publicUrl } = parts;
  const { schemas, ...standard } = standardComponents();
  const named = new NamedSchemas(schemas);
  const described = await describedPaths(document, parts);
  await eachSchema(described, (schema, direction, operationId) => {
    named.collect(operationId, direction, schema);
    return schema;
  });
  const examples = readExamples();
  const lifted = await eachSchema(described, (schema, direction, operationId) => {
    const use = asObject(named.lift(direction, schema));
    const isInlineBody = direction === 'input' && use.$ref === undefined;
    return isInlineBody ? withExample(use, examples[operationId]) : use;
  });
  return {
    ...rest,
    // Without PUBLIC_URL: the service from which the document was downloaded.
    servers: [{ url: publicUrl ?? '/' }],
    tags: tagsOf(described).map((name) => ({ name })),
    paths: lifted,
    components: {
      ...asObject(components),
      ...standard,
      schemas: mapped(sorted(named.components), (schema, name) =>
        withExample(asObject(schema), examples[name]),
      ),
    },
  };
}

/**
 * Returns the document for people: schemas, parameters, headers and errors are inlined instead of referenced.
 * Yields to the event loop after each operation.
 */
export async function documentForReaders(
  document: object,
  parts: Pick<DocumentParts, 'facts'>,
): Promise<Json> {
  const standard: Json = standardComponents();
  const isSchema = (reference: string): boolean => reference.startsWith('#/components/schemas/');
  const inPlace = (holder: unknown): unknown => {
    const reference = asObject(holder).$ref;
    if (typeof reference !== 'string' || isSchema(reference)) return holder;
    const [kind = '', name = ''] = reference.split('/').slice(2);
    return asObject(standard[kind])[name];
  };
  const paths = await eachOperation(await describedPaths(document, parts), (operation) => {
    const { parameters = [] } = operation;
    return {
      ...operation,
      parameters: [parameters].flat().map(inPlace),
      responses: mapped(asObject(operation.responses), (given) => {
        const response = asObject(inPlace(given));
        return { ...response, headers: mapped(asObject(response.headers), inPlace) };
      }),
    };
  });
  return { ...(document as Json), paths };
}

function describedPaths(document: object, { facts }: Pick<DocumentParts, 'facts'>): Promise<Json> {
  return eachOperation(asObject((document as Json).paths), (operation, method, path) => {
    const known = facts.get(`${method.toUpperCase()} ${path}`);
    return known === undefined ? operation : describeOperation(operation, known);
  });
}

async function eachOperation(
  paths: Json,
  change: (operation: Json, method: string, path: string) => Json,
): Promise<Json> {
  const changed: { [path: string]: Json } = {};
  for (const [path, item] of Object.entries(paths)) {
    const operations: { [method: string]: unknown } = {};
    for (const [method, operation] of Object.entries(asObject(item))) {
      operations[method] = METHODS.has(method)
        ? change(asObject(operation), method, path)
        : operation;
      await yieldToEventLoop();
    }
    changed[path] = operations;
  }
  return changed;
}

type Change = (schema: Json, direction: 'input' | 'output', operationId: string) => unknown;

function eachSchema(paths: Json, change: Change): Promise<Json> {
  return eachOperation(paths, ({ requestBody, responses, ...rest }) => {
    const id = String(rest.operationId);
    return {
      ...rest,
      ...(requestBody === undefined
        ? {}
        : { requestBody: ofContent(asObject(requestBody), (one) => change(one, 'input', id)) }),
      responses: mapped(asObject(responses), (response) =>
        ofContent(asObject(response), (one) => change(one, 'output', id)),
      ),
    };
  });
}

function ofContent(holder: Json, change: (schema: Json) => unknown): Json {
  if (holder.content === undefined) return holder;
  const content = mapped(asObject(holder.content), (media) => {
    const { description: _, ...schema } = asObject(asObject(media).schema);
    return { ...asObject(media), schema: change(schema) };
  });
  return { ...holder, content };
}

function tagsOf(paths: Json): readonly string[] {
  const operations = Object.values(paths).flatMap((item) => Object.values(asObject(item)));
  return [...new Set(operations.flatMap((one) => [asObject(one).tags ?? []].flat().map(String)))];
}

function withExample(schema: Json, example: unknown): Json {
  return example === undefined ? schema : { ...schema, examples: [example] };
}

function sorted(object: Json): Json {
  return Object.fromEntries(
    Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

function mapped(object: Json, change: (value: unknown, key: string) => unknown): Json {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, change(value, key)]),
  );
}
