import type { JsonSchema } from './schema-outline.ts';

export interface CurlParameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: JsonSchema;
}

export interface CurlRequest {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly CurlParameter[];
  /** The JSON body; null if the request has none. */
  readonly body: unknown;
  readonly needsKey: boolean;
  /** Whether the response can be a stream of server-sent events. */
  readonly streams?: boolean;
}

/** Candidates for texts with a pattern: every pattern of the schemas matches one of them. */
const TEXTS = ['example', 'EXAMPLE', '2026-01-01', '00000000-0000-4000-8000-000000000000', 'a.txt'];
const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  email: 'ops@example.org',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.org/',
  uuid: '00000000-0000-4000-8000-000000000000',
};
/** Examples for fields whose schema also accepts texts without meaning. */
const NAMED: Readonly<Record<string, string>> = {
  url: 'https://example.org/',
  address: 'ops@example.org',
  hostname: 'example.org',
  host: 'example.org',
  query: 'example.org',
  endsAt: '2026-01-02',
};
const PRIVATE_LOCATIONS = ['office'];
const MAX_DEPTH = 12;

/** The smallest valid value of a schema; an object has only its required fields. */
export function smallestOf(schema: JsonSchema, name = '', depth = 0): unknown {
  const { const: only, enum: values, properties, items } = schema;
  const standard = schema.default;
  if (depth > MAX_DEPTH) return null;
  if (only !== undefined) return only;
  if (standard !== undefined) return standard;
  if (values !== undefined) return values[0];
  const [variant] = (schema.anyOf ?? schema.oneOf ?? []).filter(({ type }) => type !== 'null');
  if (variant !== undefined) return smallestOf(variant, name, depth + 1);
  switch ([schema.type ?? (properties === undefined ? 'string' : 'object')].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        Object.entries(properties ?? {})
          .filter(([field]) => isNeeded(schema, field))
          .map(([field, of]) => [
            field,
            field === 'privateLocations' ? PRIVATE_LOCATIONS : smallestOf(of, field, depth + 1),
          ]),
      );
    case 'array':
      return (schema.minItems ?? 0) > 0 ? [smallestOf(items ?? {}, name, depth + 1)] : [];
    case 'integer':
    case 'number':
      return Math.max(1, schema.minimum ?? 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return textOf(schema, name);
  }
}

/** Adds to the required fields a private location of a new check, which its schema cannot express. */
function isNeeded({ required = [], properties = {} }: JsonSchema, field: string): boolean {
  const isOfNewCheck = required.includes('request') && 'privateLocations' in properties;
  return required.includes(field) || (field === 'privateLocations' && isOfNewCheck);
}

function textOf({ format, pattern, minLength = 0 }: JsonSchema, name: string): string {
  const formed = format === undefined ? undefined : FORMATS[format];
  const matches = pattern === undefined ? null : new RegExp(pattern, 'u');
  const text = formed ?? NAMED[name];
  if (text !== undefined && (matches === null || matches.test(text))) return text;
  const fitting = TEXTS.find((each) => matches === null || matches.test(each)) ?? 'example';
  return fitting.padEnd(minLength, 'x');
}

/**
 * Formats a request as a curl command, with shell variables for values that only the reader knows.
 *
 * @param base the URL of the service; null for $SERVICE_URL
 */
export function curlText(request: CurlRequest, base: string | null): string {
  const { method, path, parameters, body, needsKey, streams = false } = request;
  const lines = [
    `curl ${streams ? '-N ' : ''}${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"${urlOf()}"`,
  ];
  if (needsKey) lines.push('-H "Authorization: Bearer $API_KEY"');
  if (streams) lines.push("-H 'Accept: text/event-stream'");
  if (body !== null) {
    lines.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`);
  }
  return lines.join(' \\\n  ');

  function urlOf(): string {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `$${variableOf(name)}`);
    const query = parameters
      .filter(({ in: place, required }) => place === 'query' && required === true)
      .map(
        ({ name, schema = {} }) => `${name}=${encodeURIComponent(String(queryValueOf(schema)))}`,
      );
    return `${base ?? '$SERVICE_URL'}${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`;
  }
}

function queryValueOf(schema: JsonSchema): unknown {
  const of = schema.items ?? schema;
  return smallestOf(of);
}

/** Converts `checkId` to `CHECK_ID`. */
function variableOf(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase();
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
