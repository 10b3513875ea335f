import type { DnsRequest } from './request/dns.ts';
import type { ApiRequest, UrlRequest } from './request/http.ts';
import type { IcmpRequest } from './request/icmp.ts';
import type { TcpRequest } from './request/tcp.ts';

interface Requests {
  readonly URL: UrlRequest;
  readonly API: ApiRequest;
  readonly TCP: TcpRequest;
  readonly DNS: DnsRequest;
  readonly ICMP: IcmpRequest;
}
type CheckType = keyof Requests;

interface AnyField {
  readonly checkTypes: readonly string[];
  readonly field: string;
  readonly unused: readonly unknown[];
}

/** A field of requests, with the values for which an agent need not know the feature. */
type RequestField<Type extends CheckType> = {
  [Field in keyof Requests[Type]]: {
    readonly checkTypes: readonly Type[];
    readonly field: Field;
    /** The first is the field's default. */
    readonly unused: readonly [Requests[Type][Field], ...Requests[Type][Field][]];
  };
}[keyof Requests[Type]];

/**
 * What an agent must know to run a check that uses it. Agents leave out fields that they do not know:
 * without the TLS of a TCP check, for example, they would connect in plain text and report that it passed. So a
 * field that changes the verdict is listed here when it is added, and so is a new value of a field: agents
 * refuse a check with a value that they do not know.
 */
export const CHECK_FEATURES = {
  TCP_TLS: { checkTypes: ['TCP'], field: 'tls', unused: ['OFF'] },
  TCP_STEPS: { checkTypes: ['TCP'], field: 'steps', unused: [[]] },
  DNS_COMPARE_SERIALS: { checkTypes: ['DNS'], field: 'compareSerials', unused: [false] },
  API_AUTH: { checkTypes: ['API'], field: 'auth', unused: [null] },
  SEVERAL_FAMILIES: {
    checkTypes: ['URL', 'API', 'TCP', 'ICMP'],
    field: 'ipFamily',
    unused: ['IPv4', 'IPv6'],
  },
} as const satisfies Readonly<
  Record<
    string,
    | RequestField<'API'>
    | RequestField<'TCP'>
    | RequestField<'DNS'>
    | RequestField<'URL' | 'API' | 'TCP' | 'ICMP'>
  >
>;
export type CheckFeature = keyof typeof CHECK_FEATURES;

export const CHECK_FEATURE_NAMES = Object.keys(CHECK_FEATURES) as readonly CheckFeature[];

/**
 * The features that an agent must have to run a check.
 *
 * @param check its request may lack fields: a stored one lacks those that were added after it was saved
 */
export function featuresNeededBy({
  checkType,
  request,
}: {
  readonly checkType: string;
  readonly request: object;
}): readonly CheckFeature[] {
  return CHECK_FEATURE_NAMES.filter((name) => {
    const { checkTypes, field, unused }: AnyField = CHECK_FEATURES[name];
    const text = JSON.stringify(Reflect.get(request, field) ?? unused[0]);
    return checkTypes.includes(checkType) && !unused.some((each) => JSON.stringify(each) === text);
  });
}
