import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runHere } from '../../support/agent/cli.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { servedBy } from '../../support/servers/http-servers.ts';
import { childrenOf, xmlTree } from '../../support/xml-tree.ts';

const target: RequestListener = (request, response) => {
  response.statusCode = request.url === '/missing' ? 404 : 200;
  response.end('ok');
};

function fileOf(...checks: readonly object[]) {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  writeFileSync(folder.file('checks.yaml'), JSON.stringify({ checks }));
  return { file: folder.file('checks.yaml'), junit: folder.file('report.xml') };
}

const url = (id: string, address: string) => ({
  id,
  checkType: 'URL',
  doubleCheck: false,
  request: { url: address },
});

describe('vedette run --junit', () => {
  it('writes a report beside its output', async () => {
    const base = await servedBy(target);
    const off = { ...url('off', base), activated: false };
    const { file, junit } = fileOf(url('good', base), url('bad', `${base}/missing`), off);
    writeFileSync(junit, 'of an earlier run');
    const { code, stdout, stderr } = await runHere(['run', file, '--junit', junit]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toContain('1 passed, 1 failed');
    const root = xmlTree(readFileSync(junit, 'utf8'));
    const [suite] = childrenOf(root, 'testsuite');
    expect(suite?.attributes).toMatchObject({
      ...{ name: file, tests: '3', failures: '1', errors: '0', skipped: '1' },
    });
    const cases = suite === undefined ? [] : childrenOf(suite, 'testcase');
    const bad = cases.find(({ attributes }) => attributes.classname === 'bad');
    expect(Number(bad?.attributes.time)).toBeGreaterThan(0);
    expect(bad?.children[0]).toMatchObject({
      name: 'failure',
      attributes: { message: expect.stringContaining('404') },
    });
    const lines = bad?.children[0]?.text.split('\n') ?? [];
    expect(lines.slice(0, 4)).toEqual([
      'status 404; under 400 is needed',
      'body: ok',
      `target: GET ${base}/missing`,
      'location: local',
    ]);
    expect(lines[4]).toMatch(/^try: /);
    // The same advice as in the terminal.
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(lines[4]);
  });

  it('runs nothing where the file cannot be written, or is one that the run reads', async () => {
    let asked = 0;
    const counted = await servedBy((_, response) => {
      asked += 1;
      response.end();
    });
    const { file, junit } = fileOf(url('good', counted));
    const before = readFileSync(file, 'utf8');
    const missing = await runHere(['run', file, '--junit', `${junit}/no/such`]);
    expect(missing).toMatchObject({ code: 2, stdout: '' });
    expect(missing.stderr).toMatch(
      /^vedette: the JUnit report cannot be written to .* \(ENOENT\)\n$/,
    );
    symlinkSync(file, junit);
    const linked = await runHere(['run', file, '--junit', junit]);
    expect(linked.stderr).toMatch(/^vedette: --junit would overwrite .*, which the run reads: /);
    const same = await runHere(['run', file, '--junit', file]);
    expect(same).toMatchObject({ code: 2, stdout: '' });
    expect(same.stderr).toMatch(/^vedette: --junit would overwrite .*, which the run reads: /);
    expect({ asked, file: readFileSync(file, 'utf8') }).toEqual({ asked: 0, file: before });
  });
});
