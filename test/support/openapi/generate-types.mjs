// Reads an OpenAPI document from stdin, validates it, and prints the types that openapi-typescript makes
// of it with its defaults.
import { register } from 'node:module';
import { json } from 'node:stream/consumers';
import { Validator } from '@seriousme/openapi-schema-validator';

// The generator needs the compiler API of TypeScript 5, which later versions do not have.
register(
  `data:text/javascript,${encodeURIComponent(
    `export const resolve = (name, context, next) =>
       next(name === 'typescript' ? 'typescript-5' : name, context);`,
  )}`,
);
const document = await json(process.stdin);
const { valid, errors } = await new Validator().validate(structuredClone(document));
if (!valid) throw new Error(JSON.stringify(errors));
const { default: generate, astToString } = await import('openapi-typescript');
process.stdout.write(astToString(await generate(JSON.stringify(document))));
