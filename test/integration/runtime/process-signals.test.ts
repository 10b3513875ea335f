import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

/** Runs a module in a process of its own, from dist. */
function start(code: string) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: join(import.meta.dirname, '../../..'),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  if (child.stderr === null) throw new Error('the child has no stderr');
  return { child, stderr: child.stderr };
}

const PARTS = `
  import { createLogger } from './dist/runtime/logger.js';
  import { StopSignals } from './dist/runtime/lifecycle.js';
  import { guardAgainstFaults } from './dist/runtime/fault-guard.js';
  import { systemClock as clock } from './dist/runtime/clock.js';
  const emitter = process;
  const log = createLogger({ level: 'info', destination: process.stderr, format: 'json' });
  const stop = new StopSignals({ emitter, clock, graceMs: 300_000, log });
  const guard = guardAgainstFaults({ emitter, log, stop });
  stop.stopping.addEventListener('abort', () => process.send({ stopping: true }));
  stop.now.addEventListener('abort', () => {
    stop.dispose();
    process.exitCode = guard.faults > 0 ? 1 : 0;
    process.disconnect();
  });
  process.on('message', () => {});
  process.send('ready');
`;

it('a process stops on SIGTERM and ends at once on a second one', async () => {
  const { child, stderr } = start(PARTS);
  const log = text(stderr);
  await once(child, 'message');
  child.kill('SIGTERM');
  expect(await once(child, 'message')).toContainEqual({ stopping: true });
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  expect(await log).toMatch(
    /stopping: SIGTERM received[\s\S]*stopping at once: SIGTERM came again/,
  );
});

it('a process drains after an uncaught error, and fails', async () => {
  const { child, stderr } = start(
    `${PARTS} process.once('message', () => { throw new Error('a bug'); });`,
  );
  const log = text(stderr);
  await once(child, 'message');
  child.send('go');
  expect(await once(child, 'message')).toContainEqual({ stopping: true });
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await exited).toEqual([1, null]);
  const [first] = (await log).split('\n');
  expect(JSON.parse(first ?? '')).toMatchObject({ kind: 'internal', err: { message: 'a bug' } });
});

it('a process continues after stderr has lost its reader', async () => {
  const { child, stderr } = start(`${PARTS}
    process.once('message', async () => {
      for (let line = 0; line < 100; line += 1) {
        log.info('to nobody');
        await new Promise((resolve) => setImmediate(resolve));
      }
      process.send({ faults: guard.faults, stopping: stop.stopping.aborted });
    });`);
  await once(child, 'message');
  stderr.destroy();
  await once(stderr, 'close');
  child.send('go');
  expect(await once(child, 'message')).toContainEqual({ faults: 0, stopping: false });
  child.kill('SIGKILL');
  await once(child, 'exit');
});
