import { z } from 'zod';
import {
  ASSERTION_FIELDS,
  CERTIFICATE_PROPERTIES,
  COMPARISONS,
  type Comparison,
  isNumber,
  JSON_SOURCES,
  LATENCY_PROPERTIES,
  numberNeeded,
  SCHEMA_COMPARISONS,
} from './assertion.ts';
import { parseStatuses } from './statuses.ts';

const NUMBER_COMPARISONS: readonly Comparison[] = [
  'EQUALS',
  'NOT_EQUALS',
  'GREATER_THAN',
  'LESS_THAN',
];
const MAX_ASSERTIONS = 50;

function assertionOf<const Sources extends readonly [string, ...string[]]>(sources: Sources) {
  return z
    .strictObject({
      source: z.enum(sources).describe(ASSERTION_FIELDS.source),
      property: z.string().max(2048).default('').describe(ASSERTION_FIELDS.property),
      comparison: z.enum(COMPARISONS).describe(ASSERTION_FIELDS.comparison),
      target: z.string().max(10_000).default('').describe(ASSERTION_FIELDS.target),
      regex: z.string().max(2048).nullable().default(null).describe(ASSERTION_FIELDS.regex),
    })
    .superRefine(({ source, property, comparison, target, regex }, context) => {
      // Compared as text, "800ms" is greater than 1200, and the assertion would always pass.
      if (
        isNumber({ source, property }) &&
        NUMBER_COMPARISONS.includes(comparison) &&
        regex === null &&
        !/^\s*[+-]?(\d+\.?\d*|\.\d+)\s*$/.test(target)
      ) {
        context.addIssue({
          code: 'custom',
          path: ['target'],
          message: numberNeeded({ source, property }),
        });
      }
      if (comparison === 'ONE_OF') {
        const problem = statusListProblem({ source, target, regex });
        if (problem !== null) context.addIssue({ code: 'custom', ...problem });
      }
      if (JSON_SOURCES.includes(source) && property !== '' && !property.startsWith('$')) {
        context.addIssue({
          code: 'custom',
          path: ['property'],
          message: 'must be a JSONPath that starts with $, for example $.status',
        });
      }
      if (source === 'JSON_SCHEMA' && !SCHEMA_COMPARISONS.includes(comparison)) {
        context.addIssue({
          code: 'custom',
          path: ['comparison'],
          message:
            'must be EQUALS, for a body that is valid against the JSON Schema, or NOT_EQUALS',
        });
      }
      if (source === 'HEADERS' && property === '') {
        context.addIssue({ code: 'custom', path: ['property'], message: 'must name a header' });
      }
      if (source === 'LATENCY' && !LATENCY_PROPERTIES.some((known) => known === property)) {
        context.addIssue({
          code: 'custom',
          path: ['property'],
          message: `must be one of ${LATENCY_PROPERTIES.join(', ')}`,
        });
      }
      if (source === 'CERTIFICATE' && !CERTIFICATE_PROPERTIES.some((known) => known === property)) {
        context.addIssue({
          code: 'custom',
          path: ['property'],
          message: `must be one of ${CERTIFICATE_PROPERTIES.join(', ')}`,
        });
      }
      if (regex !== null && source === 'CERTIFICATE') {
        context.addIssue({
          code: 'custom',
          path: ['regex'],
          message: 'is not for CERTIFICATE; use the comparison CONTAINS',
        });
      }
      if (regex !== null && JSON_SOURCES.includes(source)) {
        context.addIssue({
          code: 'custom',
          path: ['regex'],
          message: 'is not for a JSON source; use property with a JSONPath',
        });
      }
    });
}

function statusListProblem({
  source,
  target,
  regex,
}: {
  readonly source: string;
  readonly target: string;
  readonly regex: string | null;
}): { readonly path: string[]; readonly message: string } | null {
  if (source !== 'STATUS_CODE') {
    return { path: ['comparison'], message: 'must be another one: ONE_OF is for STATUS_CODE' };
  }
  if (regex !== null && regex !== '') {
    return { path: ['regex'], message: 'must be left out: ONE_OF compares the whole status' };
  }
  if (parseStatuses(target) !== null) return null;
  const message = 'must be a list of statuses and ranges, for example "200-299, 404"';
  return { path: ['target'], message };
}

export function assertionsOf<const Sources extends readonly [string, ...string[]]>(
  sources: Sources,
) {
  return z
    .array(assertionOf(sources))
    .max(MAX_ASSERTIONS)
    .default([])
    .describe('The conditions that the response must meet; see Assertions.');
}
