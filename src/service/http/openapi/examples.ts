import { readFileSync } from 'node:fs';
import { asObject, type Json } from './named-schemas.ts';

/** Finds the example of the JSON body or of a JSON response of an operation; undefined if it has none. */
export type FindExample = (method: string, path: string, part: 'body' | number) => unknown;

/**
 * Reads the examples, keyed by the names of their schemas, or by the operation id for a body whose schema has no name.
 * Tests take them from requests that the service accepts and from its responses; `npm run examples` updates the file.
 */
export function readExamples(): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(new URL('./examples.json', import.meta.url), 'utf8'));
}

/**
 * Finds examples by the schema names in the complete document; for a list, the example of an entry; for a body
 * without a name, by the operation id.
 */
export function exampleFinder(complete: Json): FindExample {
  const examples = readExamples();
  return (method, path, part) => {
    const operation = asObject(asObject(asObject(complete.paths)[path])[method]);
    const holder =
      part === 'body' ? operation.requestBody : asObject(operation.responses)[String(part)];
    const json = asObject(asObject(asObject(holder).content)['application/json']);
    const [, name] = /schemas\/(\w+)"/.exec(JSON.stringify(json.schema ?? null)) ?? [];
    if (name !== undefined) return examples[name];
    return part === 'body' ? examples[String(operation.operationId)] : undefined;
  };
}
