import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeTempFolder } from '../support/process/temp-folder.ts';
import { askService } from '../support/service/service-app.ts';

const ROOT = join(import.meta.dirname, '../..');
const SAMPLE = [
  'The agent is ready',
  'The agent reports its health',
  'The health port speaks HTTP',
  'No name server listens on the health port',
];

it('npm start prints passing results of the sample and saves them, and Ctrl-C stops it without errors', async () => {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  // A separate process group, as in a terminal: Ctrl-C signals npm and its children.
  const npm = spawn('npm', ['start', '--', '--data', folder.file('data')], {
    cwd: ROOT,
    detached: true,
  });
  npm.stdin.end();
  const { pid } = npm;
  if (pid === undefined) throw new Error('npm did not start');
  onTestFinished(() => {
    if (npm.exitCode === null && npm.signalCode === null) process.kill(-pid, 'SIGKILL');
  });
  let text = '';
  let errors = '';
  npm.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });
  await new Promise<void>((resolve, reject) => {
    npm.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (SAMPLE.every((name) => text.includes(name))) resolve();
    });
    npm.once('exit', () => reject(new Error(`it ended: ${text}${errors}`)));
  });
  const verdicts = text.split('\n').filter((line) => SAMPLE.some((name) => line.includes(name)));
  expect(verdicts.filter((line) => !line.includes('PASS'))).toEqual([]);

  // The commands that the greeting suggests.
  expect(text).toMatch(/ API_KEY=vk_\w+ npx vedette status\n/);
  const [, key = '', port = '', path = ''] =
    /curl -H 'Authorization: Bearer (vk_\w+)' http:\/\/127\.0\.0\.1:(\d+)(\/\S+)/.exec(text) ?? [];
  const ask = async (what: string) => (await askService(Number(port), what, { key })).json;
  // The agent prints a result before the service has it.
  while ((await ask('/v1/check-statuses/own-readiness')) === null);
  expect(path).toBe('/v1/check-results/own-readiness');
  expect(await ask(path)).toMatchObject([{ runLocation: 'local', hasFailures: false }]);
  expect(JSON.parse(readFileSync(folder.file('data/up.json'), 'utf8'))).toMatchObject({
    apiKey: key,
  });

  // npm ends by the signal itself; its pipes close when its last child has ended.
  process.kill(-pid, 'SIGINT');
  await once(npm, 'close');
  const lines = errors.split('\n').filter((line) => !line.startsWith('npm warn'));
  expect(lines).toEqual([expect.stringMatching(/^First start: making a database in /), '']);
}, 300_000);
