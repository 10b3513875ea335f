import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { systemCodeOf } from '../../runtime/errors.ts';

/** What a process of ours is for. */
export const OWN_PROCESS_NAMES = ['capture', 'traceroute'] as const;
export type OwnProcessName = (typeof OWN_PROCESS_NAMES)[number];

/** How a process ended. */
export interface OwnProcessEnd {
  /** Its exit code; null where a signal ended it, or where it never started. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The system's code, ENOENT for example, where it could not be started; else null. */
  readonly startError: string | null;
}

/** A process that the agent started, and ends. */
export interface OwnProcess {
  /** null where it could not be started. */
  readonly pid: number | null;
  /** To be read to its end, or destroyed: the process may stand still otherwise. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Never rejects. Output may still wait in the pipes; they end by themselves. */
  readonly ended: Promise<OwnProcessEnd>;
  /** Asks it to end. Does nothing once it has. */
  interrupt(): void;
  /** Kills it (SIGKILL); resolves when it has ended. */
  kill(): Promise<OwnProcessEnd>;
}

/** Program directories. PATH is not used: anyone may have set it. */
const PROGRAM_FOLDERS = [
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/sbin',
  '/usr/bin',
  '/sbin',
  '/bin',
];

/** Messages are to be in English: they are shown in the job log. */
const ENVIRONMENT = { LC_ALL: 'C', PATH: PROGRAM_FOLDERS.join(':') };

/** The path of a program that this process may run; null where there is none. */
export async function findProgram(
  name: string,
  folders: readonly string[] = PROGRAM_FOLDERS,
): Promise<string | null> {
  for (const folder of folders) {
    const path = join(folder, name);
    if (await isProgram(path)) return path;
  }
  return null;
}

/**
 * Starts a program, without a shell and with next to no environment. Never throws: where it could
 * not be started, `ended` says so and its outputs are empty.
 *
 * It is called `vedette-<name>:<our pid>/<program>`, by which the agent's next start finds it
 * should this one be killed (orphans.ts). The last part is there because some programs look at
 * their name: traceroute takes one that ends in 6 for IPv6, and BusyBox runs what it is called.
 */
export function spawnOwn(
  name: OwnProcessName,
  command: string,
  args: readonly string[],
): OwnProcess {
  const argv0 = `vedette-${name}:${process.pid}/${basename(command)}`;
  let child: ChildProcess;
  try {
    child = spawn(command, args, { argv0, env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    return notStarted(systemCodeOf(error) ?? 'unknown');
  }
  const ended = new Promise<OwnProcessEnd>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal, startError: null }));
    child.on('error', (error) => {
      // A signal that could not be sent comes as an error too.
      if (child.pid === undefined) {
        resolve({ code: null, signal: null, startError: systemCodeOf(error) ?? 'unknown' });
      }
    });
  });
  return {
    pid: child.pid ?? null,
    stdout: quiet(child.stdout),
    stderr: quiet(child.stderr),
    ended,
    interrupt: () => void child.kill('SIGINT'),
    kill() {
      child.kill('SIGKILL');
      return ended;
    },
  };
}

/** Without a listener, an error of a pipe would end the agent. Node leaves out the pipes at EMFILE. */
function quiet(pipe: Readable | null | undefined): Readable {
  return (pipe ?? Readable.from([])).on('error', () => {});
}

function notStarted(startError: string): OwnProcess {
  const ended = Promise.resolve({ code: null, signal: null, startError });
  const nothing = (): Readable => Readable.from([]);
  return {
    pid: null,
    stdout: nothing(),
    stderr: nothing(),
    ended,
    interrupt() {},
    kill: () => ended,
  };
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
