import { readFile } from 'node:fs/promises';

/** capabilities(7), by their numbers. */
const CAPABILITIES = { KILL: 5, SETGID: 6, SETUID: 7 } as const;
export type CapabilityName = keyof typeof CAPABILITIES;

/** Root that has not the rights that root usually has, as in a container that dropped them. */
export interface OwnRights {
  readonly isRoot: boolean;
  readonly has: (name: CapabilityName) => boolean;
  /** Programs that it starts get no rights beside its own (prctl(2), PR_SET_NO_NEW_PRIVS). */
  readonly noNewPrivileges: boolean;
}

/** What this process may; where that cannot be read, what its user usually may. */
export async function readOwnRights(): Promise<OwnRights> {
  const isRoot = process.geteuid?.() === 0;
  const status = await ownStatus();
  const digits = /^CapEff:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? null;
  const effective = digits === null ? null : BigInt(`0x${digits}`);
  const has = (name: CapabilityName): boolean =>
    effective === null ? isRoot : ((effective >> BigInt(CAPABILITIES[name])) & 1n) === 1n;
  return { isRoot, has, noNewPrivileges: /^NoNewPrivs:\s*1$/m.test(status) };
}

/** proc(5); empty where it cannot be read. */
async function ownStatus(): Promise<string> {
  try {
    return await readFile('/proc/self/status', 'latin1');
  } catch {
    return '';
  }
}
