import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  findProgram,
  spawnEvidenceProcess,
} from '../../../../src/agent/evidence/evidence-process.ts';
import { endOrphans } from '../../../../src/agent/evidence/orphans.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { evidenceProcessesOf } from '../../../support/process/evidence-processes.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';

describe('A child process of the agent', () => {
  it('has its output and how it ended', async () => {
    const { pid, stdout, stderr, ended } = spawnEvidenceProcess('traceroute', '/bin/sh', [
      '-c',
      'echo out; echo words >&2; exit 3',
    ]);
    expect(pid).toBeGreaterThan(1);
    expect(await Promise.all([text(stdout), text(stderr)])).toEqual(['out\n', 'words\n']);
    expect(await ended).toEqual({ code: 3, signal: null, startError: null });
  });

  it('has only a language and the program folders in its environment', async () => {
    process.env.VEDETTE_TEST_PLANTED = 'secret';
    onTestFinished(() => {
      delete process.env.VEDETTE_TEST_PLANTED;
    });
    const { stdout, stderr } = spawnEvidenceProcess('capture', '/usr/bin/env', []);
    stderr.resume();
    const names = (await text(stdout)).trim().split('\n');
    expect(names.map((line) => line.split('=')[0]).sort()).toEqual(['LC_ALL', 'PATH']);
  });

  it('is interrupted or killed', async () => {
    const asked = spawnEvidenceProcess('capture', '/bin/sleep', ['60']);
    asked.interrupt();
    expect(await asked.ended).toMatchObject({ code: null, signal: 'SIGINT' });
    const killed = spawnEvidenceProcess('capture', '/bin/sleep', ['60']);
    expect(await killed.kill()).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect(await killed.kill()).toMatchObject({ code: null, signal: 'SIGKILL' });
    killed.interrupt();
  });

  it.each([
    ['is not there', 'ENOENT', () => '/nowhere/tcpdump'],
    ['is no program', 'EACCES', () => '/'],
  ])('of a program that %s has ended, with %s', async (_what, startError, path) => {
    const { pid, stdout, stderr, ended, kill } = spawnEvidenceProcess('capture', path(), []);
    expect(pid).toBeNull();
    expect(await Promise.all([text(stdout), text(stderr)])).toEqual(['', '']);
    expect(await ended).toEqual({ code: null, signal: null, startError });
    expect(await kill()).toEqual({ code: null, signal: null, startError });
  });

  it('is searched for in folders, in their order', async () => {
    const [first, second] = [tempFolder(), tempFolder()];
    mkdirSync(join(first, 'folder'));
    writeFileSync(join(first, 'text'), '');
    for (const name of ['folder', 'text', 'both']) program(join(second, name));
    program(join(first, 'both'));
    const find = (name: string): Promise<string | null> => findProgram(name, [first, second]);
    expect(await find('both')).toBe(join(first, 'both'));
    expect(await find('folder')).toBe(join(second, 'folder'));
    expect(await find('text')).toBe(join(second, 'text'));
    expect(await find('none')).toBeNull();
    expect(await findProgram('sh')).toMatch(/^\/.*\/sh$/);
  });
});

describe.skipIf(process.platform !== 'linux')('A process that a killed agent left', () => {
  it('is found by its name', async () => {
    const own = spawnEvidenceProcess('traceroute', '/bin/sleep', ['60']);
    onTestFinished(async () => void (await own.kill()));
    const commandLine = readFileSync(`/proc/${own.pid}/cmdline`, 'utf8').split('\0');
    // The last part is the program: some programs read their name.
    expect(commandLine).toEqual([`vedette-traceroute:${process.pid}/sleep`, '60', '']);
    expect(evidenceProcessesOf(process.pid, 'traceroute')).toEqual([own.pid]);
  });

  it('is ended, but no process of this agent and none that only looks like one', async () => {
    const own = spawnEvidenceProcess('capture', '/bin/sleep', ['60']);
    // Its parent is this process, not the one in its name.
    const left = [
      sleeper('vedette-capture:1/sleep'),
      sleeper('vedette-traceroute:999999999/sleep'),
    ];
    const others = [
      sleeper('vedette-capture:/sleep'),
      sleeper('vedette:1/sleep'),
      sleeper('sleep'),
    ];
    const alive = (child: ChildProcess): boolean =>
      child.exitCode === null && child.signalCode === null;
    onTestFinished(async () => {
      await own.kill();
      for (const other of others) other.kill();
    });
    await Promise.all([...left, ...others].map((child) => once(child, 'spawn')));
    const ends = left.map((child) => once(child, 'exit'));

    const { log, records } = captureLog();
    expect(await endOrphans({ log })).toBeGreaterThanOrEqual(2);
    expect(await Promise.all(ends)).toEqual([
      [null, 'SIGKILL'],
      [null, 'SIGKILL'],
    ]);
    expect(others.map(alive)).toEqual([true, true, true]);
    expect(evidenceProcessesOf(process.pid, 'capture')).toEqual([own.pid]);
    expect(records()).toEqual([]);
  });
});

function tempFolder(): string {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  return folder.path;
}

function sleeper(argv0: string): ChildProcess {
  return spawn('/bin/sleep', ['60'], { argv0, stdio: 'ignore' });
}

function program(path: string): void {
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, 0o755);
}
