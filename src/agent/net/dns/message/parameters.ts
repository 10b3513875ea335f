/** The numbers and names of IANA's registry "Domain Name System (DNS) Parameters". */

export const TYPE_NUMBERS = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  NAPTR: 35,
  DNAME: 39,
  OPT: 41,
  DS: 43,
  SSHFP: 44,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  NSEC3: 50,
  TLSA: 52,
  SVCB: 64,
  HTTPS: 65,
  SPF: 99,
  CAA: 257,
} as const;

const TYPE_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(TYPE_NUMBERS).map(([name, number]) => [number, name]),
);

/** The type's mnemonic, or TYPE<n> (RFC 3597 5). */
export function typeName(type: number): string {
  return TYPE_NAMES.get(type) ?? `TYPE${type}`;
}

export const CLASS_IN = 1;
const CLASS_NAMES: ReadonlyMap<number, string> = new Map([
  [1, 'IN'],
  [3, 'CH'],
  [4, 'HS'],
  [254, 'NONE'],
  [255, 'ANY'],
]);

/** The class's mnemonic, or CLASS<n> (RFC 3597 5). */
export function className(number: number): string {
  return CLASS_NAMES.get(number) ?? `CLASS${number}`;
}

const OPCODE_NAMES: ReadonlyMap<number, string> = new Map([
  [0, 'QUERY'],
  [1, 'IQUERY'],
  [2, 'STATUS'],
  [4, 'NOTIFY'],
  [5, 'UPDATE'],
  [6, 'DSO'],
]);

export function opcodeName(opcode: number): string {
  return OPCODE_NAMES.get(opcode) ?? `OPCODE${opcode}`;
}
