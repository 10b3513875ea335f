import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { CaptureFilter } from '../../../src/agent/evidence/capture/capture.ts';
import { endChild } from '../process/end-child.ts';
import { type NamespaceChild, NetworkNamespace } from './network-namespace.ts';

const DRIVER = fileURLToPath(new URL('capture-driver.mjs', import.meta.url));

/** The driver's commands by name, with their answers. */
interface CaptureCommands {
  start: {
    given: { filter: CaptureFilter; limitMs: number; maxBytes: number };
    answer: { ok: boolean; note: string | null };
  };
  stop: { given: object; answer: StopAnswer };
  abort: { given: object; answer: object };
  connect: { given: Peer & { limitMs: number }; answer: { code: string | null } };
  read: { given: Peer & { say?: string }; answer: { bytes: number; code: string | null } };
  lookup: {
    given: { server: string; hostname: string; limitMs: number };
    answer: { code: string | null };
  };
}

interface Peer {
  readonly host: string;
  readonly port: number;
}

export interface ReportedCapture {
  readonly packets: number;
  readonly truncated: boolean;
  readonly dropped: number | null;
  readonly base64: string;
}

type StopAnswer =
  | { readonly ok: true; readonly captured: ReportedCapture }
  | { readonly ok: false; readonly note: string };

/**
 * Two machines on one cable: `here`, and `there` with three addresses of either family. Root only;
 * removed when the test ends.
 */
export class TwoMachines {
  static readonly here = '10.77.0.1';
  static readonly there = '10.77.0.2';
  static readonly thereToo = '10.77.0.3';
  static readonly here6 = 'fd77::1';
  static readonly there6 = 'fd77::2';
  readonly here = new NetworkNamespace();
  readonly there = new NetworkNamespace();

  constructor() {
    onTestFinished(() => {
      this.here.remove();
      this.there.remove();
    });
    const peer = ['peer', 'name', 'cable', 'netns', this.there.name];
    this.here.run('ip', 'link', 'add', 'cable', 'type', 'veth', ...peer);
    const { here, here6, there, thereToo, there6 } = TwoMachines;
    for (const [machine, addresses] of [
      [this.here, [`${here}/24`, `${here6}/64`]],
      [this.there, [`${there}/24`, `${thereToo}/24`, `${there6}/64`]],
    ] as const) {
      machine.run('ip', 'link', 'set', 'cable', 'up');
      for (const address of addresses) {
        const nodad = address.includes(':') ? ['nodad'] : [];
        machine.run('ip', 'addr', 'add', address, 'dev', 'cable', ...nodad);
      }
    }
  }

  /** A firewall on `there`, with a rule for incoming packets: `tcp dport 81 drop`. */
  firewall(...rules: readonly string[]): void {
    const chain = 'type filter hook input priority 0;';
    // Otherwise it rejects only once a second.
    this.there.run('sysctl', '-qw', 'net.ipv4.icmp_ratelimit=0', 'net.ipv6.icmp.ratelimit=0');
    this.there.run('nft', 'add', 'table', 'inet', 'test');
    this.there.run('nft', `add chain inet test input { ${chain} }`);
    for (const rule of rules) this.there.run('nft', `add rule inet test input ${rule}`);
  }

  /**
   * A server on `there`; `onSocket` is the text of a function of a socket. Resolves once it
   * listens.
   */
  async serve(port: number, onSocket: string): Promise<void> {
    const text = `require('node:net').createServer(${onSocket}).listen(${port}, () => console.log('up'));
      process.stdin.resume().on('end', () => process.exit());`;
    const child = this.there.start(process.execPath, '-e', text);
    endWithTest(child);
    await once(child.stdout, 'data');
  }
}

/** An agent's capturer in its own process, and a way to make traffic there. */
export class CaptureDriver {
  readonly lack: string | null;
  readonly #child: NamespaceChild;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: NamespaceChild, lines: AsyncIterator<string>, first: string) {
    const { lack }: { lack: string | null } = JSON.parse(first);
    this.lack = lack;
    this.#child = child;
    this.#lines = lines;
  }

  /** @param prefix a command that runs it, for example `setpriv` with its options */
  static async open(
    namespace: NetworkNamespace,
    ...prefix: readonly string[]
  ): Promise<CaptureDriver> {
    const [command = process.execPath, ...args] = [...prefix, process.execPath, DRIVER];
    const child = namespace.start(command, ...args);
    endWithTest(child);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return new CaptureDriver(child, lines, await next(lines));
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  /** Sends one command at a time. */
  async do<Name extends keyof CaptureCommands>(
    name: Name,
    given: CaptureCommands[Name]['given'],
  ): Promise<CaptureCommands[Name]['answer']> {
    this.#child.stdin.write(`${JSON.stringify({ name, ...given })}\n`);
    return JSON.parse(await next(this.#lines));
  }

  /** Stops the capture, which must succeed. */
  async stop(): Promise<ReportedCapture> {
    const stopped = await this.do('stop', {});
    if (!stopped.ok) throw new Error(`the capture broke: ${stopped.note}`);
    return stopped.captured;
  }

  /** Kills it with SIGKILL, like the kernel of a machine without memory. */
  kill(): Promise<void> {
    return endChild(this.#child);
  }
}

/** A capture as `tcpdump -r` prints it, one packet a line, without times. */
export function shownPackets(captured: ReportedCapture): readonly string[] {
  return tcpdumpText(Buffer.from(captured.base64, 'base64'), '-t').trimEnd().split('\n');
}

/** @throws Error if tcpdump cannot read the file to its end */
export function tcpdumpText(pcap: Buffer, ...options: readonly string[]): string {
  // stderr names the source, with an error if the file ends within a packet.
  return execFileSync('tcpdump', ['-nn', ...options, '-r', '-'], {
    input: pcap,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
}

async function next(lines: AsyncIterator<string>): Promise<string> {
  const { done, value } = await lines.next();
  if (done === true) throw new Error('the capture driver ended');
  return value;
}

function endWithTest(child: NamespaceChild): void {
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.stdin.end();
    await ended;
  });
}
