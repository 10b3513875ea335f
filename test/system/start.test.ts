import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const SAMPLE = [
  'The agent is ready',
  'The agent tells its health',
  'The health port speaks HTTP',
  'No name server listens on the health port',
];

it('npm start prints passing results of the sample, and Ctrl-C ends it well', async () => {
  // A group of its own, as a terminal makes one: Ctrl-C goes to npm and to what it started.
  const npm = spawn('npm', ['start'], { cwd: ROOT, detached: true });
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

  // npm ends by the signal itself; its pipes close when the agent, too, has ended.
  process.kill(-pid, 'SIGINT');
  await once(npm, 'close');
  expect(errors.split('\n').filter((line) => !line.startsWith('npm warn'))).toEqual(['']);
}, 60_000);
