import { describe, expect, it } from 'vitest';
import { FileProblemsError } from '../../../../../src/agent/source/common/file-problem.ts';
import { parseCheckFile } from '../../../../../src/agent/source/file/parse-check-file.ts';

const TCP = '{ id: a, checkType: TCP, request: { hostname: localhost, port: 80 } }';

/** A file whose `variables` are line 2, or more from there on. */
const fileWith = (variables: string): string => `checks: [${TCP}]\n${variables}`;
/** A file whose first check has such variables, on line 2. */
const checkWith = (variables: string): string =>
  `checks:\n  - ${TCP.replace('{ ', `{ variables: ${variables}, `)}`;

async function problemsOf(text: string): Promise<readonly string[]> {
  const error = await parseCheckFile(text, 'f.yaml').then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof FileProblemsError)) throw new Error('the file has no problems');
  return error.lines().map((line) => line.replace(/^f\.yaml:/, ''));
}

describe('the variables of a check file', () => {
  it('are read, for the file and for a check', async () => {
    const own = '[{ key: A, value: x }, { key: _b1, value: "", secret: true }]';
    const { variables, checks } = await parseCheckFile(
      `variables: ${own}\n${checkWith('[{ key: A, value: "1" }]')}`,
      'f.yaml',
    );
    expect(variables).toEqual([
      { key: 'A', value: 'x', secret: false },
      { key: '_b1', value: '', secret: true },
    ]);
    expect(checks[0]?.variables).toEqual([{ key: 'A', value: '1', secret: false }]);
  });

  it('are an empty list if the file has none', async () => {
    for (const text of [fileWith(''), fileWith('variables:'), fileWith('variables: []')]) {
      expect((await parseCheckFile(text, 'f.yaml')).variables).toEqual([]);
    }
  });

  it('may be shared by checks through the defaults, and a variable of the check replaces a shared one', async () => {
    const text = [
      'defaults: { variables: [{ key: A, value: x }] }',
      'checks:',
      `  - ${TCP}`,
      `  - ${TCP.replace('id: a', 'id: b, variables: [{ key: B, value: y }]')}`,
    ].join('\n');
    const { checks } = await parseCheckFile(text, 'f.yaml');
    expect(checks.map(({ variables }) => variables.map(({ key }) => key))).toEqual([['A'], ['B']]);
  });

  it('are part of the fingerprint with each of their fields', async () => {
    const one = '- { key: A, value: x }';
    const texts = [one, '- { key: B, value: x }', '- { key: A, value: y }'];
    const all = [...texts, '- { key: A, value: x, secret: true }', ''];
    const prints = await Promise.all(
      all.map(async (list) => {
        const { fingerprint } = await parseCheckFile(fileWith(`variables:\n  ${list}`), 'f.yaml');
        return fingerprint;
      }),
    );
    expect(new Set(prints).size).toBe(all.length);
    const same = await parseCheckFile(
      fileWith('variables: [{ secret: false, value: "x", key: A }]'),
      'f.yaml',
    );
    expect(same.fingerprint).toBe(prints[0]);
  });

  it('may be 2000 of a file and 100 of a check, and no more', async () => {
    const list = (count: number): string =>
      `[${Array.from({ length: count }, (_, n) => `{ key: V${n}, value: x }`).join(', ')}]`;
    const most = await parseCheckFile(fileWith(`variables: ${list(2000)}`), 'f.yaml');
    expect(most.variables).toHaveLength(2000);
    expect(await problemsOf(fileWith(`variables: ${list(2001)}`))).toEqual([
      '2:12: variables must have at most 2000 items',
    ]);
    await parseCheckFile(checkWith(list(100)), 'f.yaml');
    expect(await problemsOf(checkWith(list(101)))).toEqual([
      '2:18: checks[0].variables of check "a" must have at most 100 items',
    ]);
  });
});

const KEY =
  'must be 1 to 255 letters, digits and underscores, and not begin with a digit: it is what stands between {{ and }}';
const STRANGE =
  'has a key that is not known, nor shown here, as it may be a part of a value that contains a comma and needs quotes; known here: key, value, secret';
const HIDDEN = '(the value is not shown here)';

describe('a mistake in the variables of a check file', () => {
  const slips: readonly (readonly [list: string, column: number, path: string, what: string])[] = [
    ['{ A: s3cret }', 0, '', 'must be a list of {key, value, secret}, not a mapping'],
    ['s3cret', 0, '', `must be a list of {key, value, secret} ${HIDDEN}`],
    ['[A=s3cret]', 1, '[0]', `must be a mapping with key and value ${HIDDEN}`],
    ['[null]', 1, '[0]', 'must be a mapping with key and value, not null'],
    ['[{ value: s3cret }]', 1, '[0].key', `is missing; it ${KEY}`],
    ['[{ key: A-s3cret, value: x }]', 8, '[0].key', `${KEY} ${HIDDEN}`],
    ['[{ key: "", value: x }]', 8, '[0].key', `${KEY} ${HIDDEN}`],
    ['[{ key: 1, value: x }]', 8, '[0].key', `${KEY} ${HIDDEN}`],
    ['[{ key: A }]', 1, '[0].value', 'is missing; it must be text'],
    ['[{ key: A, value: }]', 11, '[0].value', 'must be text; write "" for an empty one'],
    ['[{ key: A, value: 31337 }]', 18, '[0].value', `must be text; put it in quotes ${HIDDEN}`],
    ['[{ key: A, value: true }]', 18, '[0].value', `must be text; put it in quotes ${HIDDEN}`],
    [
      '[{ key: A, value: { s3cret: } }]',
      18,
      '[0].value',
      'must be text, not a mapping; put it in quotes or after |',
    ],
    [
      `[{ key: A, value: ${'s3cret'.repeat(4000)} }]`,
      18,
      '[0].value',
      'must be text of at most 20000 characters',
    ],
    ['[{ key: A, secret: s3cret, value: x }]', 19, '[0].secret', `must be true or false ${HIDDEN}`],
    [
      '[{ key: A, value: x }, { key: A, value: s3cret }]',
      30,
      '[1].key',
      'must be unique: variables[0] has the key "A" too',
    ],
    [
      '[{ key: A, vlaue: x, value: y }]',
      11,
      '[0].vlaue',
      'is not a known key; did you mean value?',
    ],
    // A comma that lacks its quotes makes keys of what comes after it.
    ['[{ key: A, value: a,s3cret }]', 20, '[0]', STRANGE],
    ['[{ key: A, value: a,key4s3cret }]', 20, '[0]', STRANGE],
    ['[{ key: A, value: a,b: s3cret }]', 20, '[0]', STRANGE],
  ];

  it.each(slips)(
    'is reported in the variables of the file: %s',
    async (list, column, path, what) => {
      const problems = await problemsOf(fileWith(`variables: ${list}`));
      expect(problems).toEqual([`2:${12 + column}: variables${path} ${what}`]);
      expect(problems.join()).not.toMatch(/s3cret|31337/);
    },
  );

  it.each(slips)(
    'is reported in the variables of a check: %s',
    async (list, column, path, what) => {
      const problems = await problemsOf(checkWith(list));
      expect(problems).toEqual([
        `2:${18 + column}: checks[0].variables${path} of check "a" ${what}`,
      ]);
      expect(problems.join()).not.toMatch(/s3cret|31337/);
    },
  );

  it('is reported for every variable, together with the mistakes in the rest of the file', async () => {
    const text = `variables:\n  - { key: A, value: 1 }\n  - { key: 2, value: x }\nchecks: []`;
    expect(await problemsOf(text)).toEqual([
      `2:22: variables[0].value must be text; put it in quotes ${HIDDEN}`,
      `3:12: variables[1].key ${KEY} ${HIDDEN}`,
      '4:9: checks must be a list of one check or more',
    ]);
  });
});
