import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { runHere } from '../../support/agent/cli.ts';
import { memoryTerminal } from '../../support/agent/memory-terminal.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

/** Runs `vedette init` on a terminal at which somebody answers each question with the next line. */
async function answered(args: readonly string[], ...answers: readonly string[]) {
  const rest = [...answers];
  const input = Object.assign(new PassThrough(), { isTTY: true });
  let asked = '';
  const stderr = new Writable({
    write(chunk: Buffer, _encoding, done) {
      asked += chunk.toString();
      // The question is written before its answer is read.
      if (asked.endsWith(': ')) {
        const answer = rest.shift();
        setImmediate(() => (answer === undefined ? input.end() : input.write(`${answer}\n`)));
      }
      done();
    },
  });
  const { terminal, stdout } = memoryTerminal({ isTTY: true });
  const parts = { ...terminal, stderr: Object.assign(stderr, { isTTY: true }), input: () => input };
  const code = await runProgram(['init', ...args], parts, () => {});
  return { code, stdout: stdout(), asked };
}

describe('vedette init', () => {
  let file = '';
  let folder = '';
  beforeEach(() => {
    const made = makeTempFolder();
    onTestFinished(() => made.remove());
    file = made.file('checks.yaml');
    folder = made.path;
  });

  it('asks three questions, again after an answer that is not valid, and writes a valid file', async () => {
    const { code, stdout, asked } = await answered(
      [file],
      ...['nonsense at all', 'https://shop.example/', '7', '', 'ann@shop.example'],
    );
    expect(code).toBe(0);
    expect(asked.split(/(?<=: )|\n/)).toEqual([
      expect.stringMatching(/^What to check \(a URL such as .*\): $/),
      expect.stringMatching(/^It must be a URL such as /),
      expect.stringMatching(/^What to check /),
      'Minutes between runs [1]: ',
      'It must be one of 1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440.',
      'Minutes between runs [1]: ',
      'Email address for alerts [none]: ',
    ]);
    expect(stdout).toContain(
      `${file} is written: URL check of https://shop.example/, every minute, alerts to ann@shop.example\n`,
    );
    expect(await runHere(['validate', file])).toMatchObject({
      code: 0,
      stdout: `${file}: 1 check, 1 alert channel, no problems\n`,
    });
    expect(readFileSync(file, 'utf8')).toMatch(
      /^# yaml-language-server: \$schema=http:\/\/127\.0\.0\.1:8080\/schemas\/check-file\.json\n/,
    );
  });

  it('asks only what no option says', async () => {
    const args = [file, '--target', 'db.internal:5432', '--email', 'ann@shop.example'];
    const { code, asked } = await answered(args, '15');
    expect({ code, asked }).toEqual({ code: 0, asked: 'Minutes between runs [1]: ' });
    expect(readFileSync(file, 'utf8')).toContain('\n  frequency: 15 #');
  });

  it('writes nothing where the input ends before the last answer', async () => {
    const { code, asked } = await answered([file], 'https://shop.example/');
    expect(code).toBe(2);
    expect(asked).toContain('vedette: the input ended before all questions were answered');
    expect(existsSync(file)).toBe(false);
  });

  it('takes a host without a scheme for a URL by https, and says so where it asks', async () => {
    const made = await runHere(['init', file, '--target', 'localhost']);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(file, 'utf8')).toContain('https://localhost/');
    const refused = await runHere(['init', `${file}.other`, '--target', 'a b']);
    expect(refused.stderr).toContain(
      'a host such as example.com (which becomes https://example.com/)',
    );
  });

  it('asks nobody without a terminal: options or an error that names them', async () => {
    const refused = await runHere(['init', file]);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(
      /^vedette: there is no terminal on which to ask what to check: give --target with a URL .*\n$/,
    );
    const env = { SERVICE_URL: 'https://vedette.example/monitor/' };
    const made = await runHere(['init', file, '--target', '10.0.0.1'], env);
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('$schema=https://vedette.example/monitor/schemas/check-file.json\n');
  });

  it('takes lines that were typed ahead as the next answers, also invalid ones', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    onTestFinished(() => void process.off('warning', onWarning));
    const wrong = Array.from({ length: 20 }, () => 'nonsense at all');
    const pasted = [...wrong, 'https://shop.example/', '5', 'none'].join('\n');
    const { code, asked } = await answered([file], pasted);
    expect(code).toBe(0);
    expect(asked.match(/What to check/g)).toHaveLength(21);
    expect(readFileSync(file, 'utf8')).toContain('\n  frequency: 5 #');
    // Warnings are emitted on the next tick.
    await new Promise(setImmediate);
    expect(warnings).toEqual([]);
  });

  it('refuses a SERVICE_URL that every command refuses, before it asks', async () => {
    const env = { SERVICE_URL: 'localhost:8080' };
    const refused = await runHere(['init', file, '--target', '10.0.0.1'], env);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^vedette: SERVICE_URL is "localhost:8080"; it must be an http/);
    expect(existsSync(file)).toBe(false);
    const help = await runHere(['init', '--help']);
    expect(help.stdout).toMatch(/^ {2}SERVICE_URL +The service where editors find/m);
  });

  it('names the schema of the package where the project has it', async () => {
    const packed = join(folder, 'node_modules/vedette/dist/schemas');
    mkdirSync(packed, { recursive: true });
    writeFileSync(join(packed, 'check-file.json'), '{}');
    await runHere(['init', file, '--target', '10.0.0.1']);
    expect(readFileSync(file, 'utf8')).toContain(
      '$schema=./node_modules/vedette/dist/schemas/check-file.json\n',
    );
  });

  it('names the next commands as the program was started', async () => {
    const { terminal, stdout } = memoryTerminal();
    const script = '/srv/shop/node_modules/.bin/vedette';
    await runProgram(['init', file, '--target', '10.0.0.1'], { ...terminal, script }, () => {});
    expect(stdout()).toContain(`Next:\n  npx vedette run ${file} `);
  });

  it('replaces a file only with --force', async () => {
    writeFileSync(file, 'mine');
    const refused = await answered([file], 'https://shop.example/');
    expect(refused.code).toBe(2);
    expect(refused.asked).toContain(' exists; name another one');
    expect(readFileSync(file, 'utf8')).toBe('mine');
    await runHere(['init', file, '--target', '10.0.0.1', '--force']);
    expect(readFileSync(file, 'utf8')).toContain('10.0.0.1');
  });

  it.each([
    [['--target', 'a b'], /--target must be a URL such as .*, not "a b"/],
    [['--target', 'a.example', '--email', 'ann'], /--email must be an email address .*, not "ann"/],
    [['--target', 'a.example', '--every', '7'], /Allowed choices are 1, 2, 5/],
  ])('with %j writes nothing and says what is allowed', async (flags, message) => {
    const { code, stderr } = await runHere(['init', file, ...flags]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
    expect(existsSync(file)).toBe(false);
  });
});
