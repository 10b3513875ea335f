import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { copyMigratedDatabase } from '../database/new-database.ts';
import { makeTempFolder } from '../process/temp-folder.ts';
import { type RunningCli, startCli } from './cli.ts';

/** A check file and a data folder for one test, and helpers to inspect a running `vedette up`. */
export interface UpFixture {
  readonly file: string;
  readonly data: string;
  write(...checks: readonly object[]): void;
  /** Like `write`, with variables and other sections. */
  writeAll(content: {
    readonly checks: readonly object[];
    readonly variables: object[];
    readonly [section: string]: readonly object[];
  }): void;
  /** Creates the service's database, which is most of the time of a first start. */
  makeDatabase(): void;
  /**
   * @param stdout as of startCli
   * @param options further arguments
   */
  start(
    env?: Readonly<Record<string, string>>,
    stdout?: number,
    ...options: readonly string[]
  ): RunningCli;
}

export function upFixture(...checks: readonly object[]): UpFixture {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  const [file, data] = [folder.file('checks.yaml'), folder.file('data')];
  const writeAll = (content: object): void => writeFileSync(file, JSON.stringify(content));
  const write = (...next: readonly object[]): void => writeAll({ checks: next });
  write(...checks);
  return {
    file,
    data,
    write,
    writeAll,
    makeDatabase: () => copyMigratedDatabase(join(data, 'service')),
    start(env = {}, stdout, ...options) {
      const ports = { PORT: '0', AGENT_HEALTH_PORT: '0' };
      const args = ['up', '--file', file, '--data', data, ...options];
      const cli = startCli(args, { ...ports, ...env }, stdout);
      // Its children have their own process groups, and end after it has.
      onTestFinished(async () => {
        cli.child.kill('SIGKILL');
        await cli.ended;
      });
      return cli;
    },
  };
}

/** The processes that a process started, by the word after `vedette`. Linux only. */
export function childrenOf(pid: number): ReadonlyMap<string, number> {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const pids = text === '' ? [] : text.split(' ').map(Number);
  return new Map(pids.map((child) => [commandOf(child), child]));
}

function commandOf(pid: number): string {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  return words[words.findIndex((word) => word.endsWith('main.js')) + 1] ?? '';
}

/** Whether the process runs. A zombie counts as ended. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** The permission bits of the folder and everything in it. */
export function modesIn(folder: string): ReadonlyMap<string, number> {
  const names = ['.', ...readdirSync(folder)];
  return new Map(names.map((name) => [name, statSync(`${folder}/${name}`).mode & 0o777]));
}

/** An HTTP server that answers every request with 200, as a target of checks. */
export async function okTarget(): Promise<string> {
  const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
