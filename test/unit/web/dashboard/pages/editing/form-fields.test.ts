import { describe, expect, it } from 'vitest';
import { RUNNABLE_CHECK_TYPES } from '../../../../../../src/model/enums.ts';
import {
  boundsText,
  factsAt,
  fieldsOf,
  hintOf,
  unitOf,
} from '../../../../../../src/web/dashboard/pages/editing/facts.ts';
import {
  LABELS,
  LEFT_TO_YAML,
  wordsOf,
} from '../../../../../../src/web/dashboard/pages/editing/form-fields.ts';

/** Every field of every type that has a value of its own: no objects, and lists of plain values as one. */
const PATHS = new Set(
  RUNNABLE_CHECK_TYPES.flatMap((type) =>
    Object.entries(fieldsOf(type))
      .filter(([path, { kind }]) => !/\[\]$/.test(path) && kind !== 'object')
      .filter(
        ([path, { kind }]) => kind !== 'array' || fieldsOf(type)[`${path}[]`]?.kind !== 'object',
      )
      .map(([path]) => path),
  ),
);

describe('the fields of the form of a check', () => {
  it('are all fields of the OpenAPI document except those that only YAML has', () => {
    expect(PATHS.size).toBeGreaterThan(50);
    const named = [...Object.keys(LABELS), ...Object.keys(LEFT_TO_YAML)];
    expect(
      [...PATHS].filter((path) => !named.includes(path)),
      'show it, or say why not',
    ).toEqual([]);
    expect(
      named.filter((path) => !PATHS.has(path)),
      'the document has no such field',
    ).toEqual([]);
  });

  it('are either in the form or only in YAML', () => {
    const both = Object.keys(LABELS).filter((path) => LEFT_TO_YAML[path] !== undefined);
    expect(both).toEqual([]);
  });

  it('have a unit if they are numbers, except counts and ids', () => {
    const without = RUNNABLE_CHECK_TYPES.flatMap((type) =>
      Object.entries(fieldsOf(type))
        .filter(([path, { kind }]) => /number|integer/.test(kind) && LABELS[path] !== undefined)
        .filter(([path, facts]) => unitOf(path, facts) === null)
        .map(([path]) => path),
    );
    expect(new Set(without)).toEqual(
      new Set([
        'alertChannelSubscriptions[].alertChannelId',
        'alertSettings.reminders.amount',
        'alertSettings.runBasedEscalation.failedRunThreshold',
        'frequencyOffset',
        'groupId',
        'groupOrder',
        'request.pingCount',
        'request.port',
        'retryStrategy.maxRetries',
        'setupSnippetId',
        'teardownSnippetId',
      ]),
    );
  });

  it('have the texts, bounds and defaults of the document', () => {
    const max = factsAt('TCP', 'maxResponseTime');
    expect(max && hintOf(max)).toBe(
      'A run fails if its response time is longer. Empty disables the threshold.',
    );
    expect(max && boundsText(max, unitOf('maxResponseTime', max))).toBe(
      'From 0 to 5,000 ms. Default: 5,000 ms.',
    );
    expect(factsAt('API', 'request.headers[3].key')?.isRequired).toBe(true);
    expect(factsAt('URL', 'request.headers[3].key')).toBeNull();
  });

  it('have words for the choices, and leave names that people know', () => {
    expect(['NO_RETRIES', 'GREATER_THAN', 'GRAPHQL', 5].map(wordsOf)).toEqual([
      'none',
      'greater than',
      'GRAPHQL',
      '5',
    ]);
  });
});
