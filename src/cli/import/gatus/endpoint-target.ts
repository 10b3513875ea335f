import type { RawMapping } from '../../../agent/source/common/raw-mapping.ts';
import type { Draft } from '../common/draft.ts';
import { isTrue, isUnset, mappingOf, textOf, textsOf } from '../common/fields.ts';
import { type HttpProbe, hostAndPort, type OtherProbe, PLAIN_GET } from '../common/probe.ts';
import type { ProbeType } from './conditions.ts';

export interface EndpointTarget {
  readonly type: ProbeType;
  readonly target: HttpProbe | OtherProbe;
}

/** Names of an endpoint in messages and variables, and the values of its templates. */
export interface EndpointNames {
  readonly name: string;
  readonly group: string;
}

/** Returns the target of an endpoint, or why no check can have it. */
export function targetOf(
  endpoint: RawMapping,
  names: EndpointNames,
  draft: Draft,
): EndpointTarget | { readonly why: string } {
  const text = (value: unknown): string => withEnvironment(textOf(value) ?? '', draft);
  const url = text(endpoint.url);
  const client = mappingOf(endpoint.client);
  if (!isUnset(endpoint.dns)) return dnsTarget(mappingOf(endpoint.dns), url);
  if (/^https?:\/\//i.test(url) || /^\{\{/.test(url)) {
    return { type: 'HTTP', target: httpTarget(endpoint, url, names, draft) };
  }
  const [, scheme = '', rest = ''] = /^([a-z]+):\/\/(.*)$/is.exec(url) ?? [];
  const tls = TLS_OF_SCHEME.get(scheme);
  if (tls === undefined && scheme !== 'icmp') {
    return { why: `no type of check speaks ${scheme === '' ? 'its protocol' : scheme}` };
  }
  const parsed = hostAndPort(rest.replace(/\/.*$/s, ''));
  if (parsed === null) return { why: 'the import does not understand its url' };
  const { hostname, port } = parsed;
  if (tls === undefined) {
    return { type: 'ICMP', target: { type: 'ICMP', request: { hostname, pingCount: 1 } } };
  }
  if (port === null) return { why: 'its url has no port' };
  const data = draft.variables.text(text(endpoint.body), `${names.name}_DATA`);
  const request = {
    hostname,
    port,
    ...tls,
    ...(isTrue(client.insecure) && scheme !== 'tcp' ? { skipSSL: true } : {}),
    ...(data === '' ? {} : { data }),
  };
  return { type: 'TCP', target: { type: 'TCP', request } };
}

const TLS_OF_SCHEME: ReadonlyMap<string, object> = new Map<string, object>([
  ['tcp', {}],
  ['tls', { tls: 'ON' }],
  ['starttls', { tls: 'STARTTLS', startTlsProtocol: 'SMTP' }],
]);

function dnsTarget(dns: RawMapping, url: string): EndpointTarget | { readonly why: string } {
  const parsed = hostAndPort(url.replace(/^dns:\/\//, ''));
  if (parsed === null) return { why: 'its url is not a name server' };
  const request = {
    query: textOf(dns['query-name']) ?? '',
    recordType: (textOf(dns['query-type']) ?? '').toUpperCase(),
    nameServer: parsed.hostname,
    ...(parsed.port === null ? {} : { port: parsed.port }),
  };
  return { type: 'DNS', target: { type: 'DNS', request } };
}

function httpTarget(
  endpoint: RawMapping,
  url: string,
  { name, group }: EndpointNames,
  draft: Draft,
): HttpProbe {
  const { variables } = draft;
  const client = mappingOf(endpoint.client);
  const headers = Object.entries(mappingOf(endpoint.headers)).flatMap(([key, raw]) => {
    const value = textOf(raw);
    if (value === null) return [];
    return [{ key, value: variables.header(key, withEnvironment(value, draft), name) }];
  });
  const filled = withEnvironment(textOf(endpoint.body) ?? '', draft)
    .replaceAll('[ENDPOINT_NAME]', name)
    .replaceAll('[ENDPOINT_GROUP]', group)
    .replaceAll('[ENDPOINT_URL]', url);
  const isGraphql = isTrue(endpoint.graphql);
  const body = isGraphql && filled !== '' ? JSON.stringify({ query: filled }) : filled;
  return {
    ...PLAIN_GET,
    url: variables.url(url, name),
    method: (textOf(endpoint.method) ?? 'GET').toUpperCase(),
    headers,
    bodyType: isGraphql ? 'JSON' : 'RAW',
    body: variables.text(body, `${name}_BODY`),
    auth: authOf(client, name, draft),
    followRedirects: !isTrue(client['ignore-redirect']),
    skipSSL: isTrue(client.insecure),
  };
}

function authOf(client: RawMapping, name: string, draft: Draft): HttpProbe['auth'] {
  if (isUnset(client.oauth2)) return null;
  const oauth = mappingOf(client.oauth2);
  const secret = withEnvironment(textOf(oauth['client-secret']) ?? '', draft);
  const scope = textsOf(oauth.scopes).join(' ');
  return {
    type: 'OAUTH2_CLIENT_CREDENTIALS',
    tokenUrl: withEnvironment(textOf(oauth['token-url']) ?? '', draft),
    clientId: withEnvironment(textOf(oauth['client-id']) ?? '', draft),
    clientSecret: /^\{\{\w+\}\}$/.test(secret)
      ? secret
      : draft.variables.secret(secret, `${name}_CLIENT_SECRET`, `the client secret of ${name}`),
    ...(scope === '' ? {} : { scope }),
  };
}

/** Replaces `$NAME` and `${NAME}` by `{{NAME}}`, and `$$` by a dollar sign. */
function withEnvironment(text: string, draft: Draft): string {
  return text.replace(
    /\$(?:\$|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/g,
    (_, plain?: string, braced?: string) => {
      const name = plain ?? braced;
      return name === undefined ? '$' : draft.variables.fromEnvironment(name);
    },
  );
}
