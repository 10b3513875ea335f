import { type JsonSchema, kindText, outline } from './schema-outline.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: JsonSchema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: JsonSchema }>>;
  readonly description?: string;
}

interface Operation {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses?: Readonly<Record<string, Content>>;
}

/** As much of OpenAPI 3.1 as the page shows. */
export interface OpenApiDocument {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description?: string;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, JsonSchema>> };
}

export const DOCS_STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 0 auto; padding: 1rem }
h2 { border-bottom: 1px solid; margin-top: 2.5rem }
details { margin: .5rem 0; padding: .25rem .75rem; border: 1px solid #8886; border-radius: .4rem }
summary { cursor: pointer }
code, pre { font: .875rem/1.45 ui-monospace, monospace }
pre { overflow-x: auto; padding: .75rem; background: #8882; border-radius: .4rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0 }
`;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** The document as one page of HTML, by resource. Everything in it is escaped. */
export function docsPage(document: OpenApiDocument): string {
  const { title, version, description } = document.info;
  const forms = new Forms();
  const byTag = new Map<string, string>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = methods[method];
      if (operation === undefined) continue;
      const tag = operation.tags?.[0] ?? 'Other';
      const name = `${method.toUpperCase()} ${path}`;
      byTag.set(tag, `${byTag.get(tag) ?? ''}${operationHtml(name, operation, forms)}`);
    }
  }
  const sections = [...byTag].map(([tag, operations]) => `<h2>${escaped(tag)}</h2>${operations}`);
  const schemas = Object.entries(document.components?.schemas ?? {}).map(
    ([name, schema]) => `<h3>${escaped(name)}</h3>${forms.html(schema, name)}`,
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(title)} ${escaped(version)}</title><style>${DOCS_STYLE}</style></head>
<body><h1>${escaped(title)} <small>${escaped(version)}</small></h1>
<p>${escaped(description ?? '')} For programs: <a href="/openapi.json">/openapi.json</a>.
A * stands behind what must be there.</p>
${sections.join('\n')}
<h2>Schemas</h2>${schemas.join('\n')}
</body></html>
`;
}

/** Shows each form of data once: where it comes first. Later ones lead there. */
class Forms {
  readonly #first = new Map<string, { readonly id: string; readonly where: string }>();

  html(schema: JsonSchema, where: string): string {
    const lines = outline(schema).join('\n');
    const kind = `<p>${escaped(kindText(schema))}</p>`;
    if (lines === '') return kind;
    const first = this.#first.get(lines);
    if (first !== undefined) {
      return `${kind}<p>The fields are those of <a href="#${first.id}">${escaped(first.where)}</a>.</p>`;
    }
    const id = `form-${this.#first.size + 1}`;
    this.#first.set(lines, { id, where });
    return `${kind}<pre id="${id}">${escaped(lines)}</pre>`;
  }
}

function operationHtml(name: string, operation: Operation, forms: Forms): string {
  const { summary, description, parameters = [], requestBody, responses = {} } = operation;
  const content = (holder: Content, where: string): string =>
    Object.entries(holder.content ?? {})
      .map(
        ([type, { schema = {} }]) =>
          `<p><code>${escaped(type)}</code></p>${forms.html(schema, where)}`,
      )
      .join('');
  const answers = Object.entries(responses).map(([status, answer]) => {
    const heading = status === 'default' ? 'Errors' : escaped(status);
    const said = escaped(answer.description ?? '');
    return `<h4>${heading}</h4><p>${said}</p>${content(answer, `the answer of ${name}`)}`;
  });
  return `<details><summary><code>${escaped(name)}</code> ${escaped(summary ?? '')}</summary>
<p>${escaped(description ?? '')}</p>
${parametersHtml(parameters)}
${requestBody === undefined ? '' : `<h3>Body</h3>${content(requestBody, `the body of ${name}`)}`}
<h3>Answers</h3>${answers.join('')}</details>
`;
}

function parametersHtml(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(({ name, in: place, required, description, schema = {} }) => {
    const must = required === true ? '*' : '';
    return `<tr><td><code>${escaped(name)}</code>${must}</td><td>${escaped(place)}</td><td>${escaped(kindText(schema))}</td><td>${escaped(description ?? schema.description ?? '')}</td></tr>`;
  });
  return `<h3>Parameters</h3><table>${rows.join('')}</table>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
