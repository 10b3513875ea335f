import type { Family } from '../../net/resolver.ts';

/** An answer that reports that the destination is unreachable this way. */
export interface Unreachable {
  /** `host`, `network`, `port`, `administratively prohibited`, … */
  readonly what: string;
  /** traceroute's mark: `!H`. null for a port, which has none. */
  readonly mark: string | null;
}

interface Reason extends Unreachable {
  /** Codes of IPv4's destination unreachable (RFC 792, RFC 1812 5.2.7.1). */
  readonly ipv4: readonly number[];
  /** Codes of IPv6's (RFC 4443 3.1). */
  readonly ipv6: readonly number[];
}

const PROHIBITED = 'administratively prohibited';

const REASONS: readonly Reason[] = [
  { what: 'network', mark: '!N', ipv4: [0], ipv6: [0] },
  { what: 'host', mark: '!H', ipv4: [1], ipv6: [2, 3] },
  { what: 'protocol', mark: '!P', ipv4: [2], ipv6: [] },
  { what: 'port', mark: null, ipv4: [3], ipv6: [4] },
  { what: 'fragmentation needed', mark: '!F', ipv4: [4], ipv6: [] },
  { what: 'source route failed', mark: '!S', ipv4: [5], ipv6: [] },
  { what: 'network', mark: '!<6>', ipv4: [6], ipv6: [] },
  { what: 'host', mark: '!<7>', ipv4: [7], ipv6: [] },
  { what: PROHIBITED, mark: '!<9>', ipv4: [9], ipv6: [] },
  { what: PROHIBITED, mark: '!<10>', ipv4: [10], ipv6: [] },
  { what: PROHIBITED, mark: '!X', ipv4: [13], ipv6: [1] },
  { what: 'precedence violation', mark: '!V', ipv4: [14], ipv6: [] },
  { what: 'precedence cutoff', mark: '!C', ipv4: [15], ipv6: [] },
  { what: PROHIBITED, mark: '!<5>', ipv4: [], ipv6: [5] },
  { what: 'network', mark: '!<6>', ipv4: [], ipv6: [6] },
];

export const PORT_UNREACHABLE: Unreachable = { what: 'port', mark: null };

/** The meaning of a code of the ICMP message "destination unreachable". */
export function unreachableByCode(family: Family, code: number): Unreachable {
  const reason = REASONS.find((row) => codesOf(row, family).includes(code));
  if (reason === undefined) return { what: `code ${code}`, mark: `!<${code}>` };
  return { what: reason.what, mark: reason.mark };
}

/** A mark as traceroute prints it: `!H`, `!F-1400`, `!<10>`, `!<12-0>`. */
const MARK = /^!(?:([A-Z])(?:-\d{1,6})?|<(\d{1,3})(?:-\d{1,3})?>)$/;

/** null if the text is no mark. */
export function unreachableByMark(family: Family, text: string): Unreachable | null {
  const match = MARK.exec(text);
  if (match === null) return null;
  const [, letter, code] = match;
  const mark = letter === undefined ? text : `!${letter}`;
  const known = REASONS.find((row) => row.mark === mark && codesOf(row, family).length > 0);
  return { what: known?.what ?? (code === undefined ? 'another reason' : `code ${code}`), mark };
}

function codesOf(reason: Reason, family: Family): readonly number[] {
  return family === 4 ? reason.ipv4 : reason.ipv6;
}

/** `host (!H)`, `port`. */
export function unreachableText({ what, mark }: Unreachable): string {
  return mark === null ? what : `${what} (${mark})`;
}
