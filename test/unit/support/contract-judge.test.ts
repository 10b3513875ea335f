import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as rules from '../../support/contract/field-rules.ts';
import { differences, differencesInEach, judge } from '../../support/contract/judge.ts';
import { DIFFERENCES } from '../../support/contract/known-differences.ts';
import * as resources from '../../support/contract/resource-tables.ts';
import * as results from '../../support/contract/result-tables.ts';

const { array, boolean, date, dateAndTime, dateTime, integer, map, notShown, number } = rules;
const { absentOr, object, oneOf, orNull, string } = rules;

/** The contract tests rely on this judge: if it found nothing, they would all pass. */
describe('the judge', () => {
  it.each([
    [string, ['', 'a'], [1, null, undefined, {}]],
    [number, [0, -1.5], ['1', Number.NaN, null]],
    [integer, [0, -1], [0.5, '1']],
    [boolean, [true, false], [0, 'true', null]],
    [date, ['2024-02-29'], ['2026-02-29', '2026-13-01', '1.1.2026', 0, '2026-01-01T00:00:00Z']],
    [
      dateTime,
      ['2026-01-01T00:00:00Z'],
      ['2026-01-01', '2026-02-30T00:00:00Z', '2026-01-01T00:00Z'],
    ],
    [dateAndTime, ['2026-01-01 01:02:03'], ['2026-01-01T01:02:03', '2026-01-01 24:30:00']],
    [oneOf('A', 'B'), ['A', 'B'], ['C', '', 1]],
    [oneOf(1, 2), [1, 2], [3, '1']],
    [orNull(string), [null, 'a'], [undefined, 1]],
    [absentOr(string), [undefined, 'a'], [null, 1]],
    [{ ...number, minimum: 0, maximum: 9 }, [0, 9], [-0.1, 9.1]],
    [{ ...string, maxLength: 2 }, ['', 'ab'], ['abc']],
    [array(number), [[], [1, 2]], [[1, '2'], {}, '1']],
    [map(number), [{}, { a: 1 }], [{ a: '1' }, [1]]],
    [object({ a: absentOr(number) }), [{}, { a: 1, b: 2 }], [{ a: null }, [], null]],
    [notShown, [{}, [], ''], [1, null, undefined]],
  ])('accepts the values of %j and reports others', (rule, right, wrong) => {
    for (const value of right) expect(judge(rule, value, 'x'), String(value)).toEqual([]);
    for (const value of wrong) expect(judge(rule, value, 'x'), String(value)).toHaveLength(1);
  });

  it('requires a day where the table has one, but a timestamp in the listed differences', () => {
    const fields = { created_at: date, startedAt: date };
    const table = { section: '2.6', resource: 'check alert', fields };
    const [day, time] = ['2026-01-01', '2026-01-01T00:00:00.000Z'];
    expect(differences(table, { created_at: day, startedAt: time })).toEqual([]);
    expect(differencesInEach(table, [{ created_at: time, startedAt: day }])).toEqual([
      `2.6 [0].created_at: "${time}" is no date`,
      `2.6 [0].startedAt: "${day}" is no date-time`,
    ]);
  });

  it('lists only differences whose fields are in the tables and in the README', () => {
    const tables = [...Object.values(results), ...Object.values(resources)];
    const readme = readFileSync('src/service/README.md', 'utf8');
    const [, text = ''] = /### Differences\n([\s\S]*?)\n###/.exec(readme) ?? [];
    for (const { of, fields } of DIFFERENCES) {
      for (const resource of of) {
        const table = tables.find((one) => 'resource' in one && one.resource === resource);
        expect(Object.keys(Object(table).fields), resource).toEqual(
          expect.arrayContaining([...fields]),
        );
      }
      for (const field of fields) expect(text).toContain(`\`${field}\``);
    }
  });

  it('reports every problem with its path', () => {
    const fields = { a: object({ b: array(object({ c: string, d: string })) }), e: string };
    const table = { section: '2.1', resource: 'thing', fields };
    const answer = { a: { b: [{ c: 'x', d: 'y' }, { c: 1 }] }, e: null };
    expect(differences(table, answer)).toEqual([
      '2.1 a.b[1].c: 1 is no string',
      '2.1 a.b[1].d: is missing',
      '2.1 e: null is not allowed',
    ]);
    expect(differencesInEach(table, [answer, answer])).toHaveLength(6);
    expect(differencesInEach(table, {})).toHaveLength(1);
  });
});
