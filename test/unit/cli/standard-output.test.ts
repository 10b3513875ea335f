import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { StandardOutput } from '../../../src/cli/standard-output.ts';

/** Streams of which stdout fails with this error. */
async function failing(code: string) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const output = new StandardOutput(stdout, stderr);
  stdout.destroy(Object.assign(new Error(code), { code }));
  await new Promise((resolve) => stdout.once('close', resolve));
  return { output, told: () => String(stderr.read() ?? '') };
}

describe('StandardOutput', () => {
  it('leaves the exit code as it is where all is written', async () => {
    const stdout = new PassThrough();
    const output = new StandardOutput(stdout, new PassThrough());
    stdout.write('x');
    stdout.resume();
    expect(await output.settle(0)).toBe(0);
    expect(await output.settle(1)).toBe(1);
  });

  it.each([
    [0, 2],
    [1, 1],
    [141, 2],
  ])('claims no success where the disk is full: %i becomes %i', async (exitCode, settled) => {
    const { output, told } = await failing('ENOSPC');
    expect(await output.settle(exitCode)).toBe(settled);
    expect(told()).toBe('vedette: stdout cannot be written (ENOSPC): output is lost\n');
  });

  it('says nothing where the reader has gone, which is its right', async () => {
    const { output, told } = await failing('EPIPE');
    expect(await output.settle(0)).toBe(0);
    expect(told()).toBe('');
  });
});
