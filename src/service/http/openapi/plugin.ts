import swagger from '@fastify/swagger';
import { type FastifyInstance, fastify, type RouteOptions } from 'fastify';
import { createJsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type RouteAccess, routeAccess } from '../access/route-access.ts';
import { NO_JSON_SCHEMAS } from '../no-json-schemas.ts';
import { errorSchema } from './error-schema.ts';
import { responseWords } from './response-words.ts';

const ERROR_RESPONSE = {
  description: 'An error',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
};

const { $schema: _, ...jsonSchema } = z.toJSONSchema(errorSchema);
// The two libraries have different types for JSON Schema.
const errorJsonSchema: object = jsonSchema;

type Override = NonNullable<z.core.ToJSONSchemaParams['override']>;

/**
 * Keeps the default of a preprocessed value, such as a number in a query, which zod omits. Otherwise does what
 * the library does without an override.
 */
const override: Override = ({ zodSchema, jsonSchema }) => {
  const { def } = zodSchema._zod;
  if (def.type === 'default') jsonSchema.default ??= def.defaultValue as never;
  if (def.type === 'undefined') jsonSchema.type = 'null';
  if (def.type === 'union') {
    const variants = jsonSchema.anyOf?.filter((variant) => Object.keys(variant).length > 0);
    if (variants !== undefined) jsonSchema.anyOf = variants;
  }
};

const transformSchemas = createJsonSchemaTransform({ zodToJsonConfig: { override } });

/** A summary of what every client needs; /docs/api-guide is complete. */
const DESCRIPTION = `The API of the monitoring service. Send an API key as \`Authorization: Bearer vk_…\`. Every error has the same form, and its \`message\` says what to do. Lists have pages, or cursors that lose and repeat nothing: begin with \`cursor=start\`, and go on with \`X-Next-Cursor\` until \`Link\` has no \`next\`. Send a POST with an \`Idempotency-Key\`, so that it can be repeated, and an update with \`If-Match\`, so that it overwrites no other. After 429 and 503 wait as long as \`Retry-After\` says.`;

/**
 * Whether the document contains the route. Excludes the agent protocol, which src/wire defines, pages, and HEAD
 * of routes for GET.
 */
export function isDescribed({ method, schema, config }: RouteOptions): boolean {
  const isHead = [method].flat().every((each) => each === 'HEAD');
  return !isHead && schema?.hide !== true && routeAccess(config).kind !== 'agent';
}

/**
 * Returns the OpenAPI 3.1 document of some routes of another app. Blocks the event loop for some milliseconds for
 * each route, while the schemas are converted. The library converts all routes of an app at once, which would
 * take most of a second for the whole API.
 */
export async function describeRoutes(
  routes: readonly RouteOptions[],
  version: string,
): Promise<object> {
  const app = fastify({ exposeHeadRoutes: false, schemaController: NO_JSON_SCHEMAS });
  // This app receives no requests, so schemas need not be compiled.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => () => '');
  await addOpenApi(app, version);
  for (const { method, url, schema, config } of routes) {
    app.route({
      method,
      url,
      ...(schema === undefined ? {} : { schema }),
      ...(config === undefined ? {} : { config }),
      handler: async () => null,
    });
  }
  await app.ready();
  const document = app.swagger();
  await app.close();
  return document;
}

/** Collects every route that is added after it into one OpenAPI 3.1 document. */
async function addOpenApi(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Vedette',
        version,
        description: DESCRIPTION,
      },
      components: {
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API key: vk_ and 32 hex digits.',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: '__Host-vedette_session',
            description:
              'The session of a user who is signed in; over plain HTTP its name is vedette_session. Methods other than GET also need the Origin of the service.',
          },
        },
        schemas: {
          Error: errorJsonSchema,
        },
      },
    },
    transform: (document) => {
      const { schema, url } = transformSchemas(document);
      const access = routeAccess(document.route.config);
      const needed = neededText(access);
      const description = [schema?.description, needed].filter(Boolean).join('\n\n');
      return {
        url,
        schema: {
          ...schema,
          ...(description === '' ? {} : { description }),
          ...(access.kind === 'role'
            ? {
                security: [{ apiKey: [] }, { session: [] }],
                'x-role': access.role,
              }
            : {}),
          ...(access.kind === 'user' ? { security: [{ session: [] }], 'x-signed-in': true } : {}),
          ...(access.kind === 'public' ? { security: [] } : {}),
          response: { ...describedResponses(schema), default: ERROR_RESPONSE },
        },
      };
    },
  });
}

function neededText(access: RouteAccess): string {
  if (access.kind === 'role') return `Needs the role \`${access.role}\`.`;
  return access.kind === 'user' ? 'Needs a user who is signed in.' : '';
}

function describedResponses(schema: { response?: unknown; summary?: string } | undefined): object {
  const answers = Object.entries((schema?.response ?? {}) as Record<string, object>);
  return Object.fromEntries(
    answers.map(([status, answer]) => [
      status,
      { description: responseWords(schema?.summary ?? '', Number(status)), ...answer },
    ]),
  );
}
