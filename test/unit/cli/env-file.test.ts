import { mkdirSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseEnvText, readEnvFile } from '../../../src/cli/env-file.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

function valuesIn(text: string): Readonly<Record<string, string>> {
  const { variables, problems } = parseEnvText(text);
  expect(problems).toEqual([]);
  return Object.fromEntries(variables.map(({ key, value }) => [key, value]));
}

function problemsIn(text: string): readonly string[] {
  return parseEnvText(text).problems.map(({ line, message }) => `${line}: ${message}`);
}

function envFile(content: string | Buffer): string {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  writeFileSync(folder.file('.env'), content);
  return folder.file('.env');
}

describe('the lines of an env file', () => {
  it.each([
    ['A=1', { A: '1' }],
    ['', {}],
    ['\n  \n# A=1\n\t#x\nB=2\n', { B: '2' }],
    ['export A=1\n  export\tB=2', { A: '1', B: '2' }],
    ['export=1', { export: '1' }],
    [' A = 1 2 ', { A: '1 2' }],
    ['A=', { A: '' }],
    ['A=\nB=2', { A: '', B: '2' }],
    ['A=b=c==', { A: 'b=c==' }],
    // A # begins a comment only after white space, so a password may contain one.
    ['A=p#ss # comment', { A: 'p#ss' }],
    ['A=# comment', { A: '' }],
    ['A=\'x # "y" \\n $B \' # comment', { A: 'x # "y" \\n $B ' }],
    ['A="x # \'y\' \\n\\r\\t\\"\\\\ \\d $B "', { A: "x # 'y' \n\r\t\"\\ \\d $B " }],
    ['A="one\ntwo"\nB=\'\n\'\nC=3', { A: 'one\ntwo', B: '\n', C: '3' }],
    ['A=it"s', { A: 'it"s' }],
    ['A=1\r\nB="x\r\ny"\r\n', { A: '1', B: 'x\ny' }],
  ])('%j', (text, values) => {
    expect(valuesIn(text)).toEqual(values);
  });

  it('give secrets, whatever they are called', () => {
    const { variables } = parseEnvText('A=1\nB=2');
    expect(variables.map(({ secret }) => secret)).toEqual([true, true]);
  });

  const name = 'must have letters, digits and underscores before =, and no digit first';
  const form = 'must be KEY=VALUE, a comment that starts with #, or blank';
  it.each([
    ['A=1\n\ns3cret', [`3: ${form}`]],
    ['A="1\n2\n3"\ns3cret\nB=1\ns3cret', [`4: ${form}`, `6: ${form}`]],
    ['s3cret-4=5', [`1: ${name}`]],
    ['=s3cret', [`1: ${name}`]],
    ['1A=s3cret', [`1: ${name}`]],
    ['export A B=s3cret', [`1: ${name}`]],
    ['A="s3cret', ['1: begins with ", which is never closed']],
    ["A='s3cret\nB=2\n", ["1: begins with ', which is never closed"]],
    ['A="x" s3cret\nB', ['1: has text after the closing quote', `2: ${form}`]],
    ['A=`s3cret`', ['1: has a value in backticks; put it in single or double quotes']],
    ['A=1\nB=2\nA=s3cret', ['3: gives a value to what line 1 has given one already']],
    [`A=${'x'.repeat(20_001)}`, ['1: has too long a value']],
  ])('%j is reported by its line, without its text', (text, problems) => {
    expect(problemsIn(text)).toEqual(problems);
    expect(problemsIn(text).join()).not.toContain('s3cret');
  });

  it('say what was written, where it was written in double quotes', () => {
    const escaped = (value: string): string =>
      value.replace(/[\\"]/g, '\\$&').replaceAll('\r', '\\r').replaceAll('\n', '\\n');
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 50 })), (values) => {
        const lines = values.map((value, n) => `V${n}="${escaped(value)}"`);
        expect(Object.values(valuesIn(lines.join('\n')))).toEqual(values);
      }),
    );
  });
});

describe('readEnvFile', () => {
  it('reads a file, also with a byte order mark', async () => {
    expect(await readEnvFile(envFile('\ufeffA=1\n'))).toEqual([
      { key: 'A', value: '1', secret: true },
    ]);
  });

  it('names the invalid lines without their content', async () => {
    const path = envFile(`A=1\n${'s3cret\n'.repeat(25)}`);
    const rest = Array.from({ length: 20 }, (_, n) => n + 3).join(', ');
    await expect(readEnvFile(path)).rejects.toMatchObject({
      kind: 'input',
      code: 'ENV_FILE_INVALID',
      message: `${path}:2: the line must be KEY=VALUE, a comment that starts with #, or blank (and so lines ${rest} and 4 more)`,
    });
    const two = envFile('s3cret\nA=1\n1=2');
    await expect(readEnvFile(two)).rejects.toMatchObject({
      message: expect.stringMatching(/:1: .* \(and so line 3\)$/),
    });
  });

  it('accepts 2000 values at most', async () => {
    const lines = Array.from({ length: 2000 }, (_, n) => `V${n}=x\n`).join('');
    expect(await readEnvFile(envFile(lines))).toHaveLength(2000);
    const path = envFile(`${lines}W=x`);
    await expect(readEnvFile(path)).rejects.toThrow(`${path} has 2001 values, and may have 2000`);
  });

  it('says what is wrong with the file itself', async () => {
    const folder = makeTempFolder();
    onTestFinished(() => folder.remove());
    mkdirSync(folder.file('dir'));
    const expected = { kind: 'input', code: 'ENV_FILE_UNREADABLE' };
    const dir = folder.file('dir');
    await expect(readEnvFile(dir)).rejects.toMatchObject({
      ...expected,
      message: `${dir} is a directory, not an env file`,
    });
    const gone = folder.file('gone');
    await expect(readEnvFile(gone)).rejects.toMatchObject({
      ...expected,
      message: `${gone}: there is no such file`,
    });
    await expect(readEnvFile(envFile(Buffer.from([0x41, 0xff])))).rejects.toMatchObject(expected);
  });
});
