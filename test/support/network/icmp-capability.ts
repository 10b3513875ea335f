import { readFileSync } from 'node:fs';

/** Which of the agent's two ways to ping this process has, determined without the agent's code. */
export type IcmpCapability = 'ping socket' | 'raw socket' | 'none';

const CAP_NET_RAW = 13n;

export async function icmpCapability(): Promise<IcmpCapability> {
  if (process.platform !== 'linux') return 'none';
  if (inPingGroupRange()) return 'ping socket';
  return (await canOpenRawSocket()) ? 'raw socket' : 'none';
}

/** The second way, whether or not the first exists. */
export async function canOpenRawSocket(): Promise<boolean> {
  return hasNetRaw() && (await netPingLoads());
}

/** icmp(7): the group, or a supplementary one, lies within net.ipv4.ping_group_range. */
function inPingGroupRange(): boolean {
  const text = readFileSync('/proc/sys/net/ipv4/ping_group_range', 'utf8');
  const [first = 1, last = 0] = text.trim().split(/\s+/).map(Number);
  const groups = [process.getegid?.() ?? -1, ...(process.getgroups?.() ?? [])];
  return groups.some((group) => group >= first && group <= last);
}

function hasNetRaw(): boolean {
  const status = readFileSync('/proc/self/status', 'utf8');
  const effective = /^CapEff:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? '0';
  return ((BigInt(`0x${effective}`) >> CAP_NET_RAW) & 1n) === 1n;
}

async function netPingLoads(): Promise<boolean> {
  const name: string = 'net-ping';
  return await import(name).then(
    () => true,
    () => false,
  );
}
