import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Container } from './container.ts';
import { type Storage, storageFor } from './podman-storage.ts';
import { openPortForward } from './port-forward.ts';
import { type CommandEnd, mustRun, runToEnd } from './run-command.ts';

const ROOT = join(import.meta.dirname, '../../..');
const STOPPED_SECONDS = 5;

/**
 * The tests' `docker`: podman, configured like a Docker engine. The test machine has no Docker
 * engine, and base images are made on the machine itself (images.ts).
 */
const DOCKER = `#!/bin/sh
command=$1; shift
case $command in
  build)
    for each in "$@"; do
      case $each in *.Dockerfile) set -- --ignorefile "$each.dockerignore" "$@"; break;; esac
    done
    exec podman build --isolation=chroot --network=host --format=docker \\
      --build-arg NODE_IMAGE=localhost/node:test --build-arg BASE_IMAGE=localhost/base:test "$@";;
  run) case "$*" in *--read-only*) set -- --read-only-tmpfs=false "$@";; esac
    exec podman run "$@";;
  *) exec podman "$command" "$@";;
esac
`;

/**
 * A separate host for containers: it shares no network, mounts or podman storage with the machine.
 * Root only; close() ends everything that runs there.
 *
 * | mode | entered by |
 * |---|---|
 * | open | `open` |
 * | closed | `close` |
 */
export class ContainerHost {
  readonly folder: string;
  readonly #storage: Storage;
  readonly #holder: ChildProcess;
  readonly #portForwards = new Map<
    number,
    Promise<{ readonly path: string; close(): Promise<void> }>
  >();

  private constructor(folder: string, storage: Storage, holder: ChildProcess) {
    this.folder = folder;
    this.#storage = storage;
    this.#holder = holder;
  }

  /** @param folder may be that of a closed host: then its images are reused */
  static async open(folder: string): Promise<ContainerHost> {
    const storage = await storageFor(folder);
    const bin = join(folder, 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'docker'), DOCKER);
    chmodSync(join(bin, 'docker'), 0o755);
    // The folders by which the podmans of one machine share networks and locks.
    const shared = ['/run/containers', '/run/libpod', '/run/netns', '/dev/shm', '/var/lib/cni'];
    const mounts = shared.map((path) => `mkdir -p ${path} && mount -t tmpfs tmpfs ${path}`);
    const script = ['ip link set lo up', ...mounts, 'echo open', 'exec cat'].join(' && ');
    const holder = spawn('unshare', ['--mount', '--net', 'sh', '-c', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await Promise.race([
      once(holder.stdout, 'data'),
      once(holder, 'exit').then(() => {
        throw new Error('cannot create namespaces');
      }),
    ]);
    return new ContainerHost(folder, storage, holder);
  }

  /** Runs podman to its end. @throws Error if it fails */
  podman(...args: readonly string[]): Promise<string> {
    return mustRun('nsenter', this.inside('podman', ...args), { env: this.#environment({}) });
  }

  /** Like `podman`, whatever its exit code. */
  tryPodman(...args: readonly string[]): Promise<CommandEnd> {
    return runToEnd('nsenter', this.inside('podman', ...args), { env: this.#environment({}) });
  }

  /**
   * Runs a user's script to its end, by default at the root of the repository. Its `docker` is this
   * host's podman.
   */
  script(
    lines: string,
    env: Readonly<Record<string, string>> = {},
    cwd: string = ROOT,
  ): Promise<CommandEnd> {
    const args = this.inside(...shell(lines, cwd));
    return runToEnd('nsenter', args, { env: this.#environment(env) });
  }

  /** Like `script`, in the machine's own network: for builds, which fetch packages. */
  buildScript(lines: string): Promise<CommandEnd> {
    const args = [...this.#mounts, '--', ...shell(lines, ROOT)];
    return runToEnd('nsenter', args, { env: this.#environment({}) });
  }

  /** The arguments of nsenter(1) for a command on this host. */
  inside(...command: readonly string[]): readonly string[] {
    return [...this.#mounts, '--net', '--', ...command];
  }

  /** Environment of other processes on this host. */
  get environment(): NodeJS.ProcessEnv {
    return this.#environment({});
  }

  /** An existing container, by its name. */
  container(name: string): Container {
    return new Container(this, name);
  }

  /** A Unix socket of the machine that leads to a loopback port of this host. */
  async forwardPort(port: number): Promise<string> {
    const opening = this.#portForwards.get(port) ?? openPortForward(this, port);
    this.#portForwards.set(port, opening);
    return (await opening).path;
  }

  /** Ends and removes the containers, with their volumes and networks; images stay. */
  async close(): Promise<void> {
    for (const forward of this.#portForwards.values()) await (await forward).close();
    await this.podman('rm', '--all', '--force', '--volumes', '--time', String(STOPPED_SECONDS));
    await this.podman('volume', 'prune', '--force');
    await this.podman('network', 'prune', '--force');
    const ended = once(this.#holder, 'exit');
    this.#holder.stdin?.end();
    await ended;
  }

  get #mounts(): readonly string[] {
    return ['--target', String(this.#holder.pid), '--mount'];
  }

  #environment(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
    const { PATH = '' } = process.env;
    return {
      PATH: `${join(this.folder, 'bin')}:${PATH}`,
      HOME: this.folder,
      ...this.#storage.environment,
      ...env,
    };
  }
}

/** A process that enters another mount namespace starts at its root. */
function shell(lines: string, cwd: string): readonly string[] {
  return ['sh', '-euc', `cd "$0"\n${lines}`, cwd];
}

/** Whether the folder was ever used. */
export function isUsed(folder: string): boolean {
  return existsSync(join(folder, 'bin'));
}
