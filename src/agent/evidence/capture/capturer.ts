import { readFile } from 'node:fs/promises';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { findProgram, spawnEvidenceProcess } from '../evidence-process.ts';
import type { Capturer } from './capture.ts';
import { buildFilter } from './filter.ts';
import { type TcpdumpBounds, TcpdumpRun } from './tcpdump-run.ts';

/**
 * With the kernel's metadata, a packet of this length fits into 64 KiB; a longer one would take
 * twice the memory in the kernel's buffer. Only the loopback has longer packets.
 */
const MAX_PACKET_BYTES = 65_400;
/** The kernel's buffer while a capture runs: about 128 packets of any length. */
const KERNEL_BUFFER_KIB = 8192;
/** A filter that matches nothing: a documentation address (RFC 5737) and the discard port. */
const TRIAL = { addresses: ['192.0.2.1'], port: 9, transport: 'udp' } as const;
const TRIAL_LIMIT_MS = 5000;
const TRIAL_BYTES = 4096;

/** capabilities(7), by their numbers. */
const CAPABILITIES = { KILL: 5, SETGID: 6, SETUID: 7 } as const;
type CapabilityName = keyof typeof CAPABILITIES;

/** Rights of this process. In a container, root may lack rights that it usually has. */
interface OwnRights {
  readonly isRoot: boolean;
  readonly has: (name: CapabilityName) => boolean;
  /** Programs that it starts gain no rights (prctl(2), PR_SET_NO_NEW_PRIVS). */
  readonly noNewPrivileges: boolean;
}

export interface CapturerOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Directories to search for tcpdump; default: those of the system. */
  readonly folders?: readonly string[];
}

/** Finds tcpdump and tests once whether it may capture here. Takes at most 4 s. */
export async function openCapturer({ clock, log, folders }: CapturerOptions): Promise<Capturer> {
  const path = await findProgram('tcpdump', folders);
  if (path === null) {
    return lackingCapturer(
      'tcpdump is not on this machine: install it, with the package tcpdump of Debian or Alpine for example',
    );
  }
  const rights = await readOwnRights();
  const start = (expression: string, bounds: TcpdumpBounds): TcpdumpRun =>
    new TcpdumpRun(
      spawnEvidenceProcess('capture', path, [...argumentsFor(rights), expression]),
      bounds,
    );

  const lack = await lackOf(start, path, rights, clock);
  if (lack !== null) return lackingCapturer(lack);
  return {
    lack: null,
    async start(filter, { signal, limitMs, maxBytes }) {
      const built = buildFilter(filter);
      if (!built.ok) return built;
      if (signal.aborted) return { ok: false, note: 'tcpdump was ended before it began' };
      const run = start(built.expression, { clock, signal, limitMs, maxBytes });
      const whyNot = await run.listening();
      if (whyNot !== null) {
        log.debug({ reason: whyNot }, 'no packet capture');
        return { ok: false, note: whyNot };
      }
      return { ok: true, capture: { stop: () => run.stop() } };
    },
  };
}

/** Captures nothing. @param lack what is missing, and how to grant it */
export function lackingCapturer(lack: string): Capturer {
  return { lack, start: async () => ({ ok: false, note: lack }) };
}

/**
 * The arguments with which tcpdump writes each packet to our pipe at once. If root starts it,
 * tcpdump changes to a user without rights, and root without CAP_KILL could not end it then.
 */
function argumentsFor(rights: OwnRights): readonly string[] {
  const user = rights.isRoot && !rights.has('KILL') ? ['-Z', 'root'] : [];
  const size = ['-s', `${MAX_PACKET_BYTES}`, '-B', `${KERNEL_BUFFER_KIB}`];
  // LINUX_SLL2 contains the number of an interface, for which tcpdump shows the name that this
  // number has on the machine that reads the file.
  const form = ['-y', 'LINUX_SLL'];
  return ['-i', 'any', ...form, '-n', '-U', '--immediate-mode', ...size, ...user, '-w', '-'];
}

/** The reason why captures are impossible, and how to enable them; null if a capture works. */
async function lackOf(
  start: (expression: string, bounds: TcpdumpBounds) => TcpdumpRun,
  path: string,
  rights: OwnRights,
  clock: Clock,
): Promise<string | null> {
  const built = buildFilter(TRIAL);
  if (!built.ok) return built.note;
  const { signal } = new AbortController();
  const bounds = { clock, signal, limitMs: TRIAL_LIMIT_MS, maxBytes: TRIAL_BYTES };
  const run = start(built.expression, bounds);
  const whyNot = await run.listening();
  const isGone = await run.kill();
  if (whyNot === null && isGone) return null;
  if (whyNot === null) return `${path} cannot be ended by this user: \`--cap-add=KILL\` allows it`;
  return `${path} may not capture packets here (${whyNot}): ${remedyFor(path, rights)}`;
}

function remedyFor(path: string, rights: OwnRights): string {
  // Started by root, tcpdump changes its user, which needs rights as well.
  if (rights.isRoot && !(rights.has('SETUID') && rights.has('SETGID'))) {
    return '`--cap-add=NET_RAW --cap-add=SETUID --cap-add=SETGID` allows a container that runs as root to, or run it as another user';
  }
  if (rights.noNewPrivileges) {
    return 'no-new-privileges keeps tcpdump from its rights: start the container without it (in Kubernetes allowPrivilegeEscalation: true) and with `--cap-add=NET_RAW`';
  }
  return `\`setcap cap_net_raw+ep ${path}\` allows it, in a container \`--cap-add=NET_RAW\` as well`;
}

/** If the rights cannot be read, assumes those that the user usually has. */
async function readOwnRights(): Promise<OwnRights> {
  const isRoot = process.geteuid?.() === 0;
  const status = await ownStatus();
  const digits = /^CapEff:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? null;
  const effective = digits === null ? null : BigInt(`0x${digits}`);
  const has = (name: CapabilityName): boolean =>
    effective === null ? isRoot : ((effective >> BigInt(CAPABILITIES[name])) & 1n) === 1n;
  return { isRoot, has, noNewPrivileges: /^NoNewPrivs:\s*1$/m.test(status) };
}

/** proc(5); empty if it cannot be read. */
async function ownStatus(): Promise<string> {
  try {
    return await readFile('/proc/self/status', 'latin1');
  } catch {
    return '';
  }
}
