/** The part of JSON Schema that the document uses. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly propertyNames?: JsonSchema;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly pattern?: string;
  readonly format?: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: JsonSchema;
}

type Content = Readonly<Record<string, { readonly schema?: JsonSchema }>>;

export interface DocumentResponse {
  /** A reference to one of the components, instead of all other keys. */
  readonly $ref?: string;
  readonly content?: Content;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
}

interface DocumentOperation {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content?: Content };
  readonly responses: Readonly<Record<string, DocumentResponse>>;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly 'x-role'?: string;
  readonly 'x-signed-in'?: boolean;
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
  readonly servers: readonly { readonly url: string }[];
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, DocumentResponse>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly headers: Readonly<Record<string, object>>;
  };
}

/** One method of one path. */
export interface Operation extends DocumentOperation {
  readonly method: string;
  /** With `{name}` for each parameter. */
  readonly path: string;
  /** `GET /v1/checks/{id}` */
  readonly name: string;
  /** The schema of its JSON body; null if it has none. */
  readonly body: JsonSchema | null;
  /** The least role that may use it; null if no key is needed. */
  readonly role: string | null;
  /** Whether only users who are signed in may use it, with any role. */
  readonly isForUsers: boolean;
}

export function operationsOf(document: OpenApiDocument): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      parameters: (operation.parameters ?? []).map((each) => parameterOf(document, each)),
      method: method.toUpperCase(),
      path,
      name: `${method.toUpperCase()} ${path}`,
      body: operation.requestBody?.content?.['application/json']?.schema ?? null,
      role: operation['x-role'] ?? null,
      isForUsers: operation['x-signed-in'] ?? false,
    })),
  );
}

function parameterOf(
  { components }: OpenApiDocument,
  given: Parameter & { readonly $ref?: string },
): Parameter {
  if (given.$ref === undefined) return given;
  const found = components.parameters[given.$ref.replace('#/components/parameters/', '')];
  if (found === undefined) throw new Error(`${given.$ref} leads nowhere`);
  return found;
}

/** Resolves a reference to its schema. */
export function resolved(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const name = schema.$ref.replace('#/components/schemas/', '');
  const found = document.components.schemas[name];
  if (found === undefined) throw new Error(`${schema.$ref} leads nowhere`);
  return resolved(document, found);
}
