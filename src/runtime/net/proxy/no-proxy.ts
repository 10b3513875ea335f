import { BlockList, isIP, isIPv6 } from 'node:net';
import { network, type Parsed } from '../../config/parsers.ts';
import { withoutBrackets } from '../endpoint-text.ts';
import { hostKey } from '../host-names.ts';

/** Whether one entry of NO_PROXY matches a host; `port` is the port of the connection. */
export type Exemption = (hostname: string, port: number) => boolean;

/**
 * One entry of NO_PROXY:
 * - `*`: every host
 * - `example.com`, `.example.com`, `*.example.com`: that name and all below it, in any case
 * - an address, or a network (CIDR): hosts that are given as addresses; no name is resolved for it
 * - each of them except `*` and networks with `:port`, for that port only; IPv6 addresses then in brackets
 */
export function exemption(text: string): Parsed<Exemption> {
  const refused = { ok: false, culprit: text } as const;
  if (text === '*') return { ok: true, value: () => true };
  const wholeNetwork = networkExemption(text);
  if (wholeNetwork !== null) return { ok: true, value: wholeNetwork };

  const parts = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text);
  const [, host = '', portText] = parts ?? [];
  const port = portText === undefined ? null : Number(portText);
  if (parts === null || port === 0 || (port ?? 0) > 65_535) return refused;
  const matches = host.includes('/') ? null : hostExemption(host);
  if (matches === null) return refused;
  return { ok: true, value: (name, used) => (port ?? used) === used && matches(name, used) };
}

function hostExemption(host: string): Exemption | null {
  const bare = withoutBrackets(host);
  if (isIP(bare) !== 0) return networkExemption(bare);
  if (bare !== host) return null;
  // Dotted numbers that are not an address (10.0.0.256, 10.0.*) would never match.
  if (!/^(\*?\.)?[^.*\s][^*\s]*$/.test(host) || /^[\d.]+$/.test(host)) return null;
  const name = hostKey(host.replace(/^\*?\./, ''));
  return (hostname) => {
    const key = hostKey(hostname);
    return key === name || key.endsWith(`.${name}`);
  };
}

function networkExemption(text: string): Exemption | null {
  const parsed = network(text);
  if (!parsed.ok) return null;
  const { address, prefixBits } = parsed.value;
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  list.addSubnet(address, prefixBits, family);
  return (host) => {
    const bare = withoutBrackets(host);
    // A BlockList treats IPv4 addresses as IPv4-mapped ones: ::/0 would match all of IPv4.
    return isIP(bare) === (family === 'ipv6' ? 6 : 4) && list.check(bare, family);
  };
}
