import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { runHere } from '../../support/agent/cli.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

/** A target that answers with the request, and records it. */
async function echo(): Promise<{ readonly url: string; readonly asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    response.end(JSON.stringify({ url: request.url, headers: request.headers }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

describe('vedette run --env-file', () => {
  let write = (_name: string, _text: string): string => '';
  beforeEach(() => {
    const folder = makeTempFolder();
    onTestFinished(() => folder.remove());
    write = (name, text) => {
      writeFileSync(folder.file(name), text);
      return folder.file(name);
    };
  });

  it('precedes the variables of the file and follows those of a check, and shows no value', async () => {
    const { url, asked } = await echo();
    const file = write(
      'checks.yaml',
      JSON.stringify({
        variables: [
          { key: 'BASE', value: url },
          { key: 'TOKEN', value: 'of-the-file' },
          { key: 'OWN', value: 'of-the-file' },
        ],
        checks: [
          {
            id: 'shop',
            checkType: 'API',
            variables: [{ key: 'OWN', value: 'of-the-check' }],
            request: {
              url: '{{BASE}}/{{OWN}}/{{PATH}}',
              headers: [{ key: 'x-token', value: '{{TOKEN}}' }],
              assertions: [
                // Its message quotes the response, which contains the token.
                { source: 'TEXT_BODY', comparison: 'EQUALS', target: 'nothing' },
              ],
            },
            doubleCheck: false,
          },
        ],
      }),
    );
    const envFile = write(
      '.env',
      '# secrets\nexport TOKEN="s3cret-token" # of the shop\nOWN=of-the-env-file\nPATH=s3cret/path\n',
    );
    for (const output of ['pretty', 'json']) {
      const args = ['run', file, '--env-file', envFile, '--output', output];
      const { code, stdout, stderr } = await runHere(args);
      expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
      expect(stdout).toContain('********');
      expect(stdout).not.toMatch(/s3cret/);
    }
    expect(asked.map(({ url: path, headers }) => [path, headers['x-token']])).toEqual([
      ['/of-the-check/s3cret%2Fpath', 's3cret-token'],
      ['/of-the-check/s3cret%2Fpath', 's3cret-token'],
    ]);
  });

  it('fails a check with an undefined variable, and sends nothing', async () => {
    const { url, asked } = await echo();
    const check = { id: 'a', checkType: 'URL', request: { url: `${url}/{{TOKEN}}` } };
    const file = write('checks.yaml', JSON.stringify({ checks: [check] }));
    const { code, stdout } = await runHere(['run', file, '--env-file', write('.env', 'TOKE=x')]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL {4}a /m);
    expect(stdout).toContain('names the variable TOKEN, which has no value here');
    expect(asked).toEqual([]);
  });

  it('reports an invalid file without its content', async () => {
    const { url, asked } = await echo();
    const check = { id: 'a', checkType: 'URL', request: { url } };
    const file = write('checks.yaml', JSON.stringify({ checks: [check] }));
    const envFile = write('.env', 'A=1\ns3cret\n');
    expect(await runHere(['run', file, '--env-file', envFile])).toEqual({
      code: 2,
      stdout: '',
      stderr: `vedette: ${envFile}:2: the line must be KEY=VALUE, a comment that starts with #, or blank\n`,
    });
    expect(await runHere(['run', file, '--env-file', '/no/such/file'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'vedette: /no/such/file: there is no such file\n',
    });
    expect(await runHere(['run', file, '--env-file='])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("option '--env-file <file>' argument '' is invalid"),
    });
    expect(asked).toEqual([]);
  });
});
