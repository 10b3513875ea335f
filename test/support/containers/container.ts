import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { ContainerHost } from './container-host.ts';
import type { CommandEnd } from './run-command.ts';

/** A container of a host, by its name. */
export class Container {
  readonly name: string;
  readonly #host: ContainerHost;

  constructor(host: ContainerHost, name: string) {
    this.name = name;
    this.#host = host;
  }

  /** All output to stdout and stderr. */
  async logs(): Promise<string> {
    const { stdout, stderr } = await this.#host.tryPodman('logs', this.name);
    return stdout + stderr;
  }

  /** Resolves with the output as soon as it matches; rejects if the container ends first. */
  async logged(pattern: RegExp): Promise<string> {
    const follow = spawn('nsenter', this.#host.inside('podman', 'logs', '--follow', this.name), {
      env: this.#host.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(follow, 'close');
    let text = '';
    try {
      await new Promise<void>((resolve, reject) => {
        for (const stream of [follow.stdout, follow.stderr]) {
          stream.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
            if (pattern.test(text)) resolve();
          });
        }
        void ended.then(() =>
          reject(new Error(`${this.name} ended before its output matched ${pattern}: ${text}`)),
        );
      });
      return text;
    } finally {
      follow.kill('SIGKILL');
      await ended;
    }
  }

  /** Runs a command in it, whatever its exit code. */
  exec(...command: readonly string[]): Promise<CommandEnd> {
    return this.#host.tryPodman('exec', this.name, ...command);
  }

  /** Runs the HEALTHCHECK of its image. @returns its exit code as docker reports it, 0 or 1 */
  async healthcheck(): Promise<number> {
    return (await this.#host.tryPodman('healthcheck', 'run', this.name)).code === 0 ? 0 : 1;
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    await this.#host.podman('kill', '--signal', signal, this.name);
  }

  /** Resolves with the exit code once it has ended. */
  async ended(): Promise<number> {
    return Number(await this.#host.podman('wait', this.name));
  }

  /** Like `docker stop`: SIGTERM, and SIGKILL after the grace period. @returns the exit code */
  async stop(): Promise<number> {
    await this.#host.podman('stop', this.name);
    return this.ended();
  }

  async start(): Promise<void> {
    await this.#host.podman('start', this.name);
  }

  async remove(): Promise<void> {
    await this.#host.podman('rm', '--force', '--volumes', this.name);
  }

  /** The host's pid of its first process. */
  async pid(): Promise<number> {
    return Number(await this.#host.podman('inspect', '--format', '{{.State.Pid}}', this.name));
  }
}

/** Process ids of the host: /proc/PID/task/TID/children of proc(5). */
export function childrenOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
      .split(' ')
      .filter((text) => text !== '')
      .map(Number),
  );
}

/** A line of /proc/PID/status; empty if there is none. */
export function statusOf(pid: number, field: string): string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return new RegExp(`^${field}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? '';
}
