import { isIP } from 'node:net';
import { tcpRequestSchema } from '../../model/check/request/tcp.ts';
import { variableKeySchema } from '../../model/check/variable.ts';
import { MASK } from '../../model/credentials/mask.ts';
import type { Parsed } from '../../runtime/config/parsers.ts';
import { withoutBrackets } from '../../runtime/net/endpoint-text.ts';
import { hostKey } from '../../runtime/net/host-names.ts';

/** One entry of VARIABLE_TARGETS: a target to which the value of a variable may be sent. */
export interface VariableTarget {
  readonly name: string;
  /** In the form of `hostKey`. With `isBelow` it matches all names below it, and not itself. */
  readonly host: string;
  readonly isBelow: boolean;
  /** null: any. */
  readonly port: number | null;
}

/** A host and port that can read a request. */
export interface Receiver {
  /** A name, or an address; an IPv6 address with or without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** It receives only the request for an access token. */
  readonly isForToken?: true;
}

const ENTRY = /^([^@]*)@(\*\.)?(\[[^\]]+\]|[^:[\]*@/\s]+)(?::(\d{1,5}))?$/;
const { hostname: hostnameSchema, port: portSchema } = tcpRequestSchema.shape;

/**
 * `NAME@host`, `NAME@host:port`, `NAME@*.host`: see VARIABLE_TARGETS. A refused entry may begin
 * with a value (a shell expanded `$NAME@host`), so it is shown only if it begins with a name.
 */
export function variableTarget(text: string): Parsed<VariableTarget> {
  const at = text.indexOf('@');
  const isName = variableKeySchema.safeParse(at === -1 ? text : text.slice(0, at)).success;
  const culprit = isName ? text : `${MASK}${at === -1 ? '' : text.slice(text.lastIndexOf('@'))}`;
  const refused = { ok: false, culprit } as const;
  const parts = ENTRY.exec(text);
  if (parts === null || !isName) return refused;
  const [, name = '', wildcard, host = '', portText] = parts;
  const bare = withoutBrackets(host);
  const isAddress = isIP(bare) !== 0;
  // Dotted numbers that are no address (10.0.0.256) can be no target.
  const isMistyped = !isAddress && (/^[\d.]+$/.test(bare) || bare !== host);
  const port = portText === undefined ? null : Number(portText);
  const isValid =
    !isMistyped &&
    !(isAddress && wildcard !== undefined) &&
    hostnameSchema.safeParse(bare).success &&
    (port === null || portSchema.safeParse(port).success);
  if (!isValid) return refused;
  return { ok: true, value: { name, host: hostKey(bare), isBelow: wildcard !== undefined, port } };
}

/** Whether one of the entries allows the receiver. */
export function isAllowed(targets: readonly VariableTarget[], receiver: Receiver): boolean {
  const key = hostKey(receiver.hostname);
  return targets.some(
    ({ host, isBelow, port }) =>
      (port === null || port === receiver.port) &&
      (isBelow ? key.endsWith(`.${host}`) : key === host),
  );
}

/** The entries by the name of their variable. */
export function targetsByName(
  entries: readonly VariableTarget[],
): ReadonlyMap<string, readonly VariableTarget[]> {
  const byName = new Map<string, VariableTarget[]>();
  for (const entry of entries) {
    byName.set(entry.name, [...(byName.get(entry.name) ?? []), entry]);
  }
  return byName;
}
