import { operationAnchor } from '../../../handbook/html/operations.ts';
import { pageHtml } from '../../../handbook/html/page.ts';
import { anchorOf } from '../../../handbook/markdown.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import { htmlEscaped } from '../../../runtime/text/html-escaped.ts';
import { type CurlParameter, type CurlRequest, curlText, smallestOf } from './curl.ts';
import type { FindExample } from './examples.ts';
import { type JsonSchema, kindText, outline } from './schema-outline.ts';

interface Parameter extends CurlParameter {
  readonly description?: string;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>>;
  readonly description?: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
}

interface Operation {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses?: Readonly<Record<string, Content>>;
  /** The kinds of credentials that are accepted, any of them. */
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}

/** The part of OpenAPI 3.1 that the page shows. */
export interface OpenApiDocument {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description?: string;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, JsonSchema>> };
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const SCHEMAS = 'Schemas';
const FIRST_ERROR = 400;
const EVENT_STREAM = 'text/event-stream';

export interface ApiPageParts {
  /** The base URL in the commands; null for a shell variable. */
  readonly publicUrl: string | null;
  readonly exampleOf: FindExample;
}

/**
 * Renders the document as one page of HTML, grouped by resource. Escapes all content. The page is readable
 * without scripts. Yields to the event loop after each operation.
 */
export async function apiPage(document: OpenApiDocument, parts: ApiPageParts): Promise<string> {
  const { publicUrl } = parts;
  const { version, description } = document.info;
  const forms = new Forms();
  const byTag = new Map<string, string>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = methods[method];
      if (operation === undefined) continue;
      const tag = operation.tags?.[0] ?? 'Other';
      byTag.set(
        tag,
        `${byTag.get(tag) ?? ''}${operationHtml({ method, path, operation, tag }, forms, parts)}`,
      );
      await yieldToEventLoop();
    }
  }
  const schemas = Object.entries(document.components?.schemas ?? {}).map(
    ([name, schema]) => `<h3>${htmlEscaped(name)}</h3>${forms.html(schema, name)}`,
  );
  if (schemas.length > 0) byTag.set(SCHEMAS, schemas.join('\n'));
  const sections = [...byTag].map(
    ([tag, html]) => `<section id="${anchorOf(tag)}"><h2>${htmlEscaped(tag)}</h2>${html}</section>`,
  );
  return pageHtml({
    title: 'API reference',
    current: 'api',
    script: '/docs/api.js',
    contents: [...byTag.keys()].map((title) => ({ title, anchor: anchorOf(title) })),
    main: `<p>${prose(description ?? '')} Version ${htmlEscaped(version)}. For programs:
<a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1). Keys, roles, paging and errors are in
<a href="/docs/api-guide">Using the API</a>. A * after a name means that the field is required. In commands,
<code>$API_KEY</code> is a key${publicUrl === null ? ', <code>$SERVICE_URL</code> the URL of the service,' : ''} and other variables are ids.</p>
<div id="api-tools" class="tools" hidden></div>
${sections.join('\n')}`,
  });
}

/** Renders each form of data and its example once, at the first occurrence. Later occurrences link to it. */
class Forms {
  readonly #first = new Map<string, { readonly id: string; readonly where: string }>();
  readonly #examples = new Set<string>();

  html(schema: JsonSchema, where: string, example?: unknown): string {
    const lines = outline(schema).join('\n');
    const kind = `<p>${htmlEscaped(kindText(schema))}</p>`;
    if (lines === '') return kind;
    return `${kind}${this.#fieldsHtml(lines, where)}${this.#exampleHtml(example)}`;
  }

  #fieldsHtml(lines: string, where: string): string {
    const first = this.#first.get(lines);
    if (first !== undefined) {
      return `<p>The fields are those of <a href="#${first.id}">${htmlEscaped(first.where)}</a>.</p>`;
    }
    const id = `form-${this.#first.size + 1}`;
    this.#first.set(lines, { id, where });
    return `<pre id="${id}" tabindex="0">${prose(lines)}</pre>`;
  }

  #exampleHtml(example: unknown): string {
    if (example === undefined) return '';
    const text = JSON.stringify(example, null, 2);
    if (this.#examples.has(text)) return '';
    this.#examples.add(text);
    return `<details><summary>Example</summary><pre class="example" tabindex="0">${htmlEscaped(text)}</pre></details>`;
  }
}

interface ShownOperation {
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly operation: Operation;
}

function operationHtml(
  { method, path, tag, operation }: ShownOperation,
  forms: Forms,
  { publicUrl, exampleOf }: ApiPageParts,
): string {
  const { summary, description, parameters = [], requestBody, responses = {} } = operation;
  const name = `${method.toUpperCase()} ${path}`;
  const content = (holder: Content, where: string, example: unknown): string =>
    Object.entries(holder.content ?? {})
      .map(
        ([type, { schema = {} }]) =>
          `<p><code>${htmlEscaped(type)}</code></p>${forms.html(schema, where, example)}`,
      )
      .join('');
  const all = Object.entries(responses);
  const answers = all.filter(([status]) => Number(status) < FIRST_ERROR);
  const answersHtml = answers.map(([status, answer]) => {
    const said = prose(answer.description ?? '');
    const example = exampleOf(method, path, Number(status));
    return `<h4>${htmlEscaped(status)}</h4><p>${said}</p>${headersHtml(answer)}${content(answer, `the response of ${name}`, example)}`;
  });
  const errors = all.filter(([status]) => Number(status) >= FIRST_ERROR);
  const { default: others = {} } = responses;
  const errorsHtml = `<h4>Errors</h4>${errorListHtml(errors)}${content(others, `the errors of ${name}`, undefined)}`;
  const anchor = operationAnchor(method, path);
  const command = commandOf({ method, path, operation }, exampleOf(method, path, 'body'));
  const data = command === null ? '' : dataHtml(command);
  // The id is on the inner element, so that a link to it opens the operation.
  return `<details class="operation" data-tag="${htmlEscaped(tag)}"${data}><summary><code class="method ${method}">${method.toUpperCase()}</code> <code>${htmlEscaped(path)}</code> <span>${htmlEscaped(summary ?? '')}</span></summary><div id="${anchor}">
<p><a href="#${anchor}">Link to this operation</a></p>
${description === undefined ? '' : `<p>${prose(description)}</p>`}
${command === null ? '' : `<h3>Command</h3><pre class="curl" tabindex="0">${htmlEscaped(curlText(command, publicUrl))}</pre>`}
${parametersHtml(parameters)}
${requestBody === undefined ? '' : `<h3>Body</h3>${content(requestBody, `the body of ${name}`, exampleOf(method, path, 'body'))}`}
<h3>Responses</h3>${answersHtml.join('')}${errorsHtml}</div></details>
`;
}

function errorListHtml(errors: readonly (readonly [string, Content])[]): string {
  if (errors.length === 0) return '';
  const items = errors.map(
    ([status, { description = '' }]) => `<li>${htmlEscaped(status)}: ${prose(description)}</li>`,
  );
  return `<ul>${items.join('')}</ul>`;
}

/** The headers of a response, except those that every response has. */
function headersHtml({ headers = {} }: Content): string {
  const own = Object.entries(headers).filter(([name]) => !/^X-(?:RateLimit|Request-Id)/.test(name));
  if (own.length === 0) return '';
  const items = own.map(
    ([name, { description = '' }]) =>
      `<li><code>${htmlEscaped(name)}</code>: ${prose(description)}</li>`,
  );
  return `<p>Headers</p><ul>${items.join('')}</ul>`;
}

/**
 * Returns the curl request of an operation; null if only signed-in users may send it, or its body is not JSON.
 *
 * @param example a body that the service accepts; undefined if there is none
 */
function commandOf(
  { method, path, operation }: Omit<ShownOperation, 'tag'>,
  example: unknown,
): CurlRequest | null {
  const { parameters = [], requestBody, security = [] } = operation;
  const needsKey = security.some((kind) => 'apiKey' in kind);
  if (security.length > 0 && !needsKey) return null;
  const json = requestBody?.content?.['application/json'];
  if (requestBody !== undefined && json === undefined) return null;
  const body = json === undefined ? null : (example ?? changeOf(json.schema ?? {}));
  const streams = Object.values(operation.responses ?? {}).some(
    ({ content = {} }) => EVENT_STREAM in content,
  );
  return { method, path, parameters, body, needsKey, streams };
}

/** Returns an example body for an update, whose fields are all optional: a change of the name. */
function changeOf(schema: JsonSchema): unknown {
  const needed = schema.required?.length ?? 0;
  const name = schema.properties?.name;
  if (needed > 0 || name === undefined) return smallestOf(schema);
  return { name: smallestOf(name, 'name') };
}

/** What the script needs to send the request. */
function dataHtml({ method, path, body, needsKey }: CurlRequest): string {
  const bodyHtml = body === null ? '' : ` data-body="${htmlEscaped(JSON.stringify(body))}"`;
  return ` data-method="${method}" data-path="${htmlEscaped(path)}"${needsKey ? ' data-key' : ''}${bodyHtml}`;
}

/** Escapes the text, and converts text between backticks to `<code>`. */
function prose(text: string): string {
  return htmlEscaped(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function parametersHtml(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(({ name, in: place, required, description, schema = {} }) => {
    const must = required === true ? '*' : '';
    const said = description ?? schema.description ?? '';
    return `<tr data-parameter="${htmlEscaped(name)}" data-in="${htmlEscaped(place)}"><td><code>${htmlEscaped(name)}</code>${must}</td><td data-title="In">${htmlEscaped(place)}</td><td data-title="Value">${htmlEscaped(kindText(schema))}</td><td data-title="Meaning">${prose(said)}</td></tr>`;
  });
  const titles = ['Name', 'In', 'Value', 'Meaning'].map((title) => `<th scope="col">${title}</th>`);
  return `<h3>Parameters</h3><table class="columns-4"><thead><tr>${titles.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
}
