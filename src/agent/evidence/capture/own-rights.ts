import { readFile } from 'node:fs/promises';

/** capabilities(7), by their numbers. */
const CAPABILITIES = { KILL: 5, SETGID: 6, SETUID: 7 } as const;
export type CapabilityName = keyof typeof CAPABILITIES;

/** Root that has not the rights that root usually has, as in a container that dropped them. */
export interface OwnRights {
  readonly isRoot: boolean;
  readonly has: (name: CapabilityName) => boolean;
}

/** What this process may; where that cannot be read, what its user usually may. */
export async function readOwnRights(): Promise<OwnRights> {
  const isRoot = process.geteuid?.() === 0;
  const effective = await effectiveCapabilities();
  const has = (name: CapabilityName): boolean =>
    effective === null ? isRoot : ((effective >> BigInt(CAPABILITIES[name])) & 1n) === 1n;
  return { isRoot, has };
}

/** proc(5), CapEff of /proc/self/status. */
async function effectiveCapabilities(): Promise<bigint | null> {
  try {
    const digits = /^CapEff:\s*([0-9a-f]+)/m.exec(await readFile('/proc/self/status', 'latin1'));
    return digits?.[1] === undefined ? null : BigInt(`0x${digits[1]}`);
  } catch {
    return null;
  }
}
