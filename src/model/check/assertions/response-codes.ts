/** The response codes of DNS (RCODEs), as IANA's registry "DNS Parameters" has them. */

export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
} as const;

/** Four bits of the header and eight of EDNS. */
export const MAX_RCODE = 4095;

/** The names of response codes, the most frequent first. */
export const RCODE_NAMES: ReadonlyMap<number, string> = new Map([
  ...Object.entries(RCODE).map(([name, code]): [number, string] => [code, name]),
  [6, 'YXDOMAIN'],
  [7, 'YXRRSET'],
  [8, 'NXRRSET'],
  [9, 'NOTAUTH'],
  [10, 'NOTZONE'],
  [11, 'DSOTYPENI'],
  [16, 'BADVERS'],
  [23, 'BADCOOKIE'],
]);

/** The text of a response code in results and for RESPONSE_CODE. */
export function rcodeName(rcode: number): string {
  return RCODE_NAMES.get(rcode) ?? `RCODE${rcode}`;
}
