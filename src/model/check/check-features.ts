import type { DnsRequest } from './request/dns.ts';
import type { ApiRequest } from './request/http.ts';
import type { TcpRequest } from './request/tcp.ts';

/** A field of a request, with the value with which it changes nothing. */
type RequestField<CheckType, Request> = {
  [Field in keyof Request]: {
    readonly checkType: CheckType;
    readonly field: Field;
    readonly unused: Request[Field];
  };
}[keyof Request];

/**
 * What an agent must know to run a check that uses it. Agents leave out fields that they do not know:
 * without the TLS of a TCP check, for example, they would connect in plain text and report that it passed. So a
 * field that changes the verdict is listed here when it is added; a new value of a field that older agents
 * know need not be, since they refuse it.
 */
export const CHECK_FEATURES = {
  TCP_TLS: { checkType: 'TCP', field: 'tls', unused: 'OFF' },
  TCP_STEPS: { checkType: 'TCP', field: 'steps', unused: [] },
  DNS_COMPARE_SERIALS: { checkType: 'DNS', field: 'compareSerials', unused: false },
  API_AUTH: { checkType: 'API', field: 'auth', unused: null },
} as const satisfies Readonly<
  Record<
    string,
    | RequestField<'API', ApiRequest>
    | RequestField<'TCP', TcpRequest>
    | RequestField<'DNS', DnsRequest>
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
    const feature = CHECK_FEATURES[name];
    const value: unknown = Reflect.get(request, feature.field) ?? feature.unused;
    return (
      feature.checkType === checkType && JSON.stringify(value) !== JSON.stringify(feature.unused)
    );
  });
}
