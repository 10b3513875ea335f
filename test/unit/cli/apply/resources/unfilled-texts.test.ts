import { describe, expect, it } from 'vitest';
import { UNKNOWN_SECRET } from '../../../../../src/cli/apply/normal-form.ts';
import {
  possibleValues,
  withKnownTexts,
  withKnownValues,
} from '../../../../../src/cli/apply/resources/unfilled-texts.ts';
import { MASK } from '../../../../../src/model/credentials/mask.ts';

describe('a config with placeholders that have no values', () => {
  it.each([
    ['{{KEY}}', 'k-1'],
    ['https://a.example/{{PATH}}', 'https://a.example/T1/B2'],
    ['https://a.example/{{TEAM}}/hooks/{{PATH}}?v=1', 'https://a.example/T1/hooks/B2?v=1'],
    ['Bearer {{{A}}}{{B}}', 'Bearer '],
    // A value that the service does not show to this key.
    ['{{KEY}}', UNKNOWN_SECRET],
    ['https://a.example/{{PATH}}', `https://a.example/${MASK}`],
  ])('treats %s as equal to the stored %s, which some values would give', (given, known) => {
    const config = { url: given, headers: [{ key: 'a', value: given }], template: given };
    const before = { url: known, headers: [{ key: 'a', value: known }], template: 'x' };
    expect(withKnownTexts(before, config)).toEqual({ ...before, template: given });
  });

  it.each([
    ['https://b.example/{{PATH}}', 'https://a.example/T1'],
    ['{{A}}-end', 'start-'],
    ['ab{{A}}ba', 'aba'],
    ['{{A}}/hooks/{{B}}', 'T1/other/B2'],
    ['https://b.example/{{PATH}}', `https://a.example/${MASK}`],
    ['no names', 'other'],
    ['{{KEY}}', null],
  ])('compares the text around the placeholders of %s: the stored %s differs', (given, known) => {
    expect(withKnownTexts({ url: known }, { url: given })).toEqual({ url: given });
  });

  it('keeps the entries of the file', () => {
    const pair = (key: string, value: string) => ({ key, value, locked: false });
    const given = { headers: [pair('a', '{{A}}'), pair('b', '{{B}}')], chatId: 1, more: null };
    expect(withKnownTexts({ headers: [pair('a', 'x')] }, given)).toEqual({
      ...given,
      headers: [pair('a', 'x'), pair('b', '{{B}}')],
    });
    expect(withKnownTexts(null, given)).toEqual(given);
  });

  it('has possible values in the same fields, wherever they are in a list', () => {
    const pair = (key: string, value: string) => ({ key, value });
    const known = {
      ...{ name: 'hook', template: 't' },
      headers: [pair('x-key', 's3cret'), pair('accept', 'text/plain')],
    };
    const given = {
      ...{ name: 'other', template: '{{T}}' },
      headers: [pair('accept', 'text/plain'), pair('x-key', '{{KEY}}')],
    };
    expect([...possibleValues(known, given)]).toEqual(['s3cret']);
  });
});

it('a secret variable without its value is not compared, others are', () => {
  const known = ['OPEN', 'A', 'B'].map((key) => ({ key, value: 'v-1', secret: false }));
  const variables = [
    { key: 'OPEN', value: '{{X}}', secret: false },
    { key: 'A', value: 'v-{{X}}', secret: true },
    { key: 'B', value: 'w-{{X}}', secret: true },
    { key: 'NEW', value: '{{X}}', secret: true },
  ];
  const values = withKnownValues(variables, known).map(({ value }) => value);
  expect(values).toEqual(['{{X}}', 'v-1', 'w-{{X}}', '{{X}}']);
});
