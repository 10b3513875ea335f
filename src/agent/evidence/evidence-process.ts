import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { systemCodeOf } from '../../runtime/errors.ts';

export const EVIDENCE_PROCESS_NAMES = ['capture', 'traceroute'] as const;
export type EvidenceProcessName = (typeof EVIDENCE_PROCESS_NAMES)[number];

export interface EvidenceProcessEnd {
  /** null if a signal ended it or it never started. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The system's code if it could not be started, for example ENOENT; else null. */
  readonly startError: string | null;
}

export interface EvidenceProcess {
  /** null if it could not be started. */
  readonly pid: number | null;
  /** Read it to its end or destroy it: otherwise the process may block. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Never rejects. Output may still wait in the pipes; they end by themselves. */
  readonly ended: Promise<EvidenceProcessEnd>;
  /** Sends SIGINT; does nothing after its end. */
  interrupt(): void;
  /** Sends SIGKILL; resolves when it has ended. */
  kill(): Promise<EvidenceProcessEnd>;
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

/** The job log shows messages of programs: they must be in English. */
const ENVIRONMENT = { LC_ALL: 'C', PATH: PROGRAM_FOLDERS.join(':') };

/** The path of a program that this process may run; null if there is none. */
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
 * Starts a program without a shell and with a minimal environment. Never throws: if the program
 * cannot be started, `ended` has the reason and the outputs are empty.
 *
 * Its argv[0] is `vedette-<name>:<our pid>/<program>`: the next start of the agent finds it by that
 * name if this agent is killed (orphans.ts). The last part is for programs that read their name:
 * traceroute uses IPv6 if it ends in 6, and BusyBox runs the command of that name.
 */
export function spawnEvidenceProcess(
  name: EvidenceProcessName,
  command: string,
  args: readonly string[],
): EvidenceProcess {
  const argv0 = `vedette-${name}:${process.pid}/${basename(command)}`;
  let child: ChildProcess;
  try {
    child = spawn(command, args, { argv0, env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    return notStarted(systemCodeOf(error) ?? 'unknown');
  }
  const ended = new Promise<EvidenceProcessEnd>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal, startError: null }));
    child.on('error', (error) => {
      // A signal that cannot be sent is an error event as well.
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

/** Without a listener, an error of a pipe would end the agent. After EMFILE there are no pipes. */
function quiet(pipe: Readable | null | undefined): Readable {
  return (pipe ?? Readable.from([])).on('error', () => {});
}

function notStarted(startError: string): EvidenceProcess {
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
