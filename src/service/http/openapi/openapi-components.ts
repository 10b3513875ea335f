type Json = { readonly [key: string]: unknown };
type Mutable = { [key: string]: unknown };

/** Schemas with fewer fields are inlined. */
const MIN_FIELDS = 3;
const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);

/**
 * Names each operation, and moves each schema that occurs more than once to `components.schemas`, so
 * that generated code has one type for it. The name is that of the field or path of its first
 * occurrence.
 */
export function withComponents(document: Json): Json {
  const counts = new Map<string, number>();
  eachForm(document.paths, (form) => {
    const text = JSON.stringify(form);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  });
  const components: Mutable = {};
  const names = new Map<string, string>();
  const lift = (value: unknown, hint: string, parent: string): unknown => {
    if (Array.isArray(value)) return value.map((each) => lift(each, hint, parent));
    if (!isObject(value)) return value;
    if (!isForm(value) || (counts.get(JSON.stringify(value)) ?? 0) < 2)
      return inside(value, hint, parent);
    const text = JSON.stringify(value);
    let name = names.get(text);
    if (name === undefined) {
      name = freeName(nameOf(value, hint), parent, components);
      names.set(text, name);
      // Taken before what is inside is named.
      components[name] = null;
      components[name] = inside(value, name, name);
    }
    return { $ref: `#/components/schemas/${name}` };
  };
  const inside = (value: Json, hint: string, parent: string): Json =>
    Object.fromEntries(
      Object.entries(value).map(([key, child]) => {
        if (key !== 'properties' || !isObject(child)) return [key, lift(child, hint, parent)];
        const fields = Object.entries(child);
        return [
          key,
          Object.fromEntries(
            fields.map(([field, of]) => [field, lift(of, pascal(field), nameOf(value, parent))]),
          ),
        ];
      }),
    );
  const own = isObject(document.components) ? document.components : {};
  const known = isObject(own.schemas) ? own.schemas : {};
  const paths = Object.entries(isObject(document.paths) ? document.paths : {}).map(
    ([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(isObject(item) ? item : {}).map(([method, operation]) => {
          if (!METHODS.has(method) || !isObject(operation)) return [method, operation];
          const { requestBody, responses, ...rest } = operation;
          const thing = thingOf(path);
          return [
            method,
            {
              operationId: operationIdOf(method, path),
              ...rest,
              ...(requestBody === undefined
                ? {}
                : { requestBody: lift(requestBody, `${thing}Input`, `${thing}Input`) }),
              responses: lift(responses, thing, thing),
            },
          ];
        }),
      ),
    ],
  );
  return {
    ...document,
    paths: Object.fromEntries(paths),
    components: { ...own, schemas: { ...known, ...components } },
  };
}

/** `getChecksUrlById` for GET /v1/checks/url/{id}: unique, since method and path are. */
function operationIdOf(method: string, path: string): string {
  const words = path
    .replace(/^\/v1\//, '/')
    .split('/')
    .filter((part) => part !== '')
    .map((part) => (part.startsWith('{') ? `By${pascal(part.slice(1, -1))}` : pascal(part)));
  return `${method}${words.join('')}`;
}

/** What the last part of the path that is no parameter is a list of. */
function thingOf(path: string): string {
  const last = path.split('/').findLast((part) => part !== '' && !part.startsWith('{')) ?? 'thing';
  if (last.length <= 3) return pascal(last);
  const one = last
    .replace(/ies$/, 'y')
    .replace(/sses$/, 'ss')
    .replace(/([^su])s$/, '$1');
  return pascal(one);
}

function nameOf(form: Json, hint: string): string {
  const fields = isObject(form.properties) ? form.properties : {};
  const { checkType } = fields;
  const [only, ...others] =
    isObject(checkType) && Array.isArray(checkType.enum) ? checkType.enum : [];
  if (typeof only !== 'string' || others.length > 0) return hint;
  const type = pascal(only.toLowerCase());
  return hint.startsWith(type) ? hint : `${type}${hint}`;
}

/** Prefixes the name with that of its parent if two different schemas have the same name. */
function freeName(wanted: string, parent: string, taken: Json): string {
  if (!(wanted in taken)) return wanted;
  const longer = wanted === parent ? `${wanted}Item` : `${parent}${wanted}`;
  if (!(longer in taken)) return longer;
  let name = longer;
  for (let number = 2; name in taken; number += 1) name = `${longer}${number}`;
  return name;
}

function eachForm(value: unknown, visit: (form: Json) => void): void {
  if (Array.isArray(value)) for (const each of value) eachForm(each, visit);
  if (!isObject(value)) return;
  if (isForm(value)) visit(value);
  for (const child of Object.values(value)) eachForm(child, visit);
}

function isForm(value: Json): boolean {
  return (
    value.type === 'object' &&
    isObject(value.properties) &&
    Object.keys(value.properties).length >= MIN_FIELDS
  );
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function pascal(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
