import { readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { runHere } from '../../support/agent/cli.ts';
import { importSource } from '../../support/import-sources.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

const BLACKBOX = ['blackbox.yml', 'prometheus.yml', 'targets.json'].map(importSource);

describe('vedette import', () => {
  let fileOf = (_name: string): string => '';
  beforeEach(() => {
    const folder = makeTempFolder();
    onTestFinished(() => folder.remove());
    fileOf = (name) => folder.file(name);
  });

  it.each([
    ['blackbox', BLACKBOX, '6 checks'],
    ['gatus', [importSource('gatus.yaml')], '5 checks, 1 group, 1 heartbeat'],
    ['uptime-kuma', [importSource('uptime-kuma.json')], '6 checks, 1 group, 1 heartbeat'],
    ['file-sd', [importSource('targets.json')], '5 checks'],
  ])('of %s makes a file that vedette validate accepts', async (format, files, content) => {
    const output = fileOf('checks.yaml');
    const { code, stdout, stderr } = await runHere([
      'import',
      ...files,
      '--from',
      format,
      '--output',
      output,
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('vedette: imported ');
    const validated = await runHere(['validate', output]);
    expect(validated).toMatchObject({ code: 0, stderr: '' });
    expect(validated.stdout).toContain(`${output}: ${content}, no problems\n`);
    const text = readFileSync(output, 'utf8');
    expect(text).toContain('\nname: checks\n');
    expect(stderr + text).not.toContain('s3cret');
  });

  it('writes to stdout, and with --strict exits with 3 where something was left out', async () => {
    const { code, stdout, stderr } = await runHere(['import', ...BLACKBOX, '--strict']);
    expect(code).toBe(3);
    expect(stdout).toContain('\nname: blackbox\n');
    expect(stdout).toContain('\nchecks:\n');
    expect(stderr).toMatch(
      /vedette: imported 6 checks; left out 4 things; set 3 variables: WEB_X_API_KEY, .*\n$/,
    );
    const plain = fileOf('targets.json');
    writeFileSync(plain, '[{ "targets": ["https://shop.example/"] }]');
    expect(await runHere(['import', plain, '--strict'])).toMatchObject({ code: 0 });
  });

  it('replaces a file only with --force, and never one that it reads', async () => {
    const source = fileOf('targets.json');
    writeFileSync(source, '[{ "targets": ["https://shop.example/"] }]');
    const output = fileOf('checks.yaml');
    writeFileSync(output, 'mine');
    const refused = await runHere(['import', source, '--output', output]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(`vedette: ${output} exists; choose another name`);
    expect(readFileSync(output, 'utf8')).toBe('mine');
    expect(await runHere(['import', source, '--output', output, '--force'])).toMatchObject({
      code: 0,
    });
    expect(readFileSync(output, 'utf8')).toContain('https://shop.example/');
    const itself = await runHere(['import', source, '--output', source, '--force']);
    expect(itself).toMatchObject({ code: 2, stdout: '' });
  });

  it.each([
    ['monitors: []', 'is none of the files that can be imported'],
    ['endpoints: []', 'nothing in it can become a check'],
    ['a: [', 'not valid YAML'],
  ])('of %j says why it makes nothing', async (text, reason) => {
    const source = fileOf('source.yaml');
    writeFileSync(source, text);
    const { code, stdout, stderr } = await runHere(['import', source]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(reason);
  });

  it('of another format than --from says what the file looks like', async () => {
    const { code, stderr } = await runHere([
      'import',
      importSource('gatus.yaml'),
      '--from',
      'blackbox',
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('is not of the format blackbox (--from); it looks like gatus');
  });
});
