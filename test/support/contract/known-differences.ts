import type { Rule, Table } from './field-rules.ts';

interface Difference {
  /** The names of the tables' resources. */
  readonly of: readonly string[];
  readonly fields: readonly string[];
  /** In place of what the table says. */
  readonly rule: Rule;
}

/** Fields that differ from the tables on purpose. The reasons are in src/service/README.md, "Differences". */
export const DIFFERENCES: readonly Difference[] = [
  { of: ['check alert'], fields: ['startedAt'], rule: { type: 'date-time' } },
  { of: ['analytics report'], fields: ['from', 'to'], rule: { type: 'date-time' } },
  {
    of: ['analytics report'],
    fields: ['series'],
    rule: {
      type: 'array',
      each: {
        type: 'object',
        fields: {
          data: {
            type: 'array',
            each: { type: 'object', fields: { time: { type: 'date-time' } } },
          },
        },
      },
    },
  },
  {
    of: ['maintenance window'],
    fields: ['startsAt', 'endsAt', 'repeatEndsAt'],
    rule: { type: 'date-time' },
  },
  {
    of: ['check error group', 'test-session error group'],
    fields: ['firstSeen', 'lastSeen'],
    rule: { type: 'date-time' },
  },
];

/** The fields of a table as responses have them. */
export function agreedFields({ resource, fields }: Table): Table['fields'] {
  const changed = DIFFERENCES.filter(({ of }) => of.includes(resource)).flatMap((one) =>
    one.fields.map((name) => [name, { ...fields[name], ...one.rule }] as const),
  );
  return { ...fields, ...Object.fromEntries(changed) };
}
