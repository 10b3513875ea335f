import { describe, expect, it } from 'vitest';
import { operationsOf } from '../../../../support/openapi/document.ts';
import { serviceDocument } from '../../../../support/openapi/service-document.ts';

const document = await serviceDocument();

/** The paths of the fields within a schema that have no description, such as `ApiCheck.request`. */
function undescribedIn(schema: unknown, at: string): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap((each) => undescribedIn(each, at));
  const { properties, examples: _, ...rest } = schema as Readonly<Record<string, unknown>>;
  const fields = Object.entries((properties ?? {}) as Readonly<Record<string, object>>);
  return [
    ...fields.filter(([, field]) => !isDescribed(field)).map(([name]) => `${at}.${name}`),
    ...fields.flatMap(([name, field]) => undescribedIn(field, `${at}.${name}`)),
    ...Object.values(rest).flatMap((inner) => undescribedIn(inner, at)),
  ];
}

function isDescribed(field: object): boolean {
  return (
    'description' in field && typeof field.description === 'string' && field.description !== ''
  );
}

describe('every field of the API', () => {
  it('has a description in each schema that has a name', () => {
    const missing = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      undescribedIn(schema, name),
    );
    expect(missing, 'add .describe(…) to the zod schema of the field').toEqual([]);
  });

  it('has a description in bodies and responses whose schemas have no name', () => {
    const missing = operationsOf(document).flatMap(({ name, requestBody, responses }) =>
      [requestBody, ...Object.values(responses)].flatMap((each) =>
        undescribedIn(each?.content, name),
      ),
    );
    expect(missing, 'add .describe(…) to the zod schema of the field').toEqual([]);
  });

  it('has a description if it is a parameter', () => {
    const missing = operationsOf(document).flatMap(({ name, parameters = [] }) =>
      parameters.filter((each) => !isDescribed(each)).map((each) => `${name} ${each.name}`),
    );
    expect(missing, 'add .describe(…) to the zod schema of the parameter').toEqual([]);
  });
});
