import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

export type NamespaceChild = ChildProcessByStdio<Writable, Readable, null>;

/** The metrics of an agent with thousands of checks are longer than what Node allows by default. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
let count = 0;

/** A network namespace with only a loopback. Root only; remove() ends it. */
export class NetworkNamespace {
  readonly name: string;

  constructor() {
    count += 1;
    this.name = `vedette-${process.pid}-${count}`;
    execFileSync('ip', ['netns', 'add', this.name]);
    this.run('ip', 'link', 'set', 'lo', 'up');
  }

  /** Runs a command inside to its end and returns its output. @throws Error if it fails */
  run(command: string, ...args: readonly string[]): string {
    const options = { encoding: 'utf8', maxBuffer: MAX_OUTPUT_BYTES } as const;
    return execFileSync('ip', this.#inside(command, args), options);
  }

  /** Starts a command inside. */
  start(command: string, ...args: readonly string[]): NamespaceChild {
    return spawn('ip', this.#inside(command, args), { stdio: ['pipe', 'pipe', 'inherit'] });
  }

  /** Groups that may open an unprivileged ICMP socket inside: all, or the default of none. */
  allowPing(groups: 'all' | 'none'): void {
    const range = groups === 'all' ? '0 2147483647' : '1 0';
    this.run('sysctl', '-qw', `net.ipv4.ping_group_range=${range}`);
  }

  remove(): void {
    execFileSync('ip', ['netns', 'delete', this.name]);
  }

  #inside(command: string, args: readonly string[]): string[] {
    return ['netns', 'exec', this.name, command, ...args];
  }
}
