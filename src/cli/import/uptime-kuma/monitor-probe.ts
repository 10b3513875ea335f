import type { RawMapping } from '../../../agent/source/common/raw-mapping.ts';
import type { Assertion } from '../../../model/check/assertions/assertion.ts';
import { statusRuleOf } from '../common/accepted-statuses.ts';
import { assertion, jsonPathOf } from '../common/assertions.ts';
import type { Draft } from '../common/draft.ts';
import { isTrue, numberOf, textOf, textsOf } from '../common/fields.ts';
import {
  type HttpProbe,
  hostAndPort,
  type KeyValue,
  PLAIN_GET,
  type Probe,
} from '../common/probe.ts';
import { below, type Origin } from '../common/source-file.ts';
import { type AskedTcp, portRequest, smtpRequest } from './tcp-request.ts';

export interface MonitorContext {
  readonly name: string;
  readonly origin: Origin;
  readonly draft: Draft;
}

type Made = Omit<Probe, 'timeoutMs'>;
type Maker = (monitor: RawMapping, context: MonitorContext) => Made | { readonly why: string };

const MAKERS: ReadonlyMap<string, Maker> = new Map<string, Maker>([
  ['http', httpProbe],
  ['keyword', httpProbe],
  ['json-query', httpProbe],
  ['port', (monitor) => tcpProbe(portRequest(monitor), monitor)],
  ['smtp', (monitor) => tcpProbe(smtpRequest(monitor), monitor)],
  ['ping', pingProbe],
  ['dns', dnsProbe],
]);

/** The probe of a monitor, or why no check can do that and what to do instead. `upsideDown` inverts it. */
export function probeOfMonitor(
  monitor: RawMapping,
  context: MonitorContext,
): Made | { readonly why: string; readonly advice: string } {
  const type = textOf(monitor.type) ?? '';
  const make = MAKERS.get(type);
  if (make === undefined) {
    const why = `no type of check does what the type ${JSON.stringify(type.slice(0, 40))} does`;
    return { why, advice: OTHER_TYPE };
  }
  const isInverted = isTrue(monitor.upsideDown);
  if (isInverted && CONTENT_TYPES.has(type)) return UPSIDE_DOWN_CONTENT;
  const made = make(monitor, context);
  if ('why' in made) return { ...made, advice: OTHER_TYPE };
  return isInverted ? { ...made, shouldFail: !made.shouldFail } : made;
}

const OTHER_TYPE =
  'a TCP check can see that a port is open, and a script of your own can ping a heartbeat';
/** Monitors of what a response contains. */
const CONTENT_TYPES: ReadonlySet<string> = new Set(['keyword', 'json-query']);
const UPSIDE_DOWN_CONTENT = {
  why: 'it is upside down, and a check inverts its criterion, not its assertions',
  advice:
    'write an API check with the opposite assertion, such as NOT_CONTAINS for CONTAINS or NOT_EQUALS for EQUALS',
};

function httpProbe(monitor: RawMapping, context: MonitorContext): ReturnType<Maker> {
  const { name, origin, draft } = context;
  const accepted = textsOf(monitor.accepted_statuscodes);
  const ranges = accepted.length === 0 ? ['200-299'] : accepted;
  const rule = statusRuleOf((status) => ranges.some((range) => isWithin(status, range)));
  if (rule === null) return { why: 'no status from 200 to 599 is accepted' };
  // With upsideDown, a check with shouldFail and without assertions is closest to "not 2xx".
  const isInverted = isTrue(monitor.upsideDown);
  if (isInverted && rule.assertions.length > 0) {
    const what = 'with upsideDown, it passes on a status of 400 or more, and without a response';
    draft.report.changed(below(origin, 'upsideDown'), what);
  }
  const url = draft.variables.url(textOf(monitor.url) ?? '', name);
  const content = contentOf(monitor, context);
  const target: HttpProbe = {
    ...PLAIN_GET,
    url,
    method: (textOf(monitor.method) ?? 'GET').toUpperCase(),
    ...content,
    headers: [...content.headers, ...bearerOf(monitor, context)],
    ...credentialsOf(monitor, context),
    followRedirects: numberOf(monitor.maxredirects) !== 0,
    skipSSL: isTrue(monitor.ignoreTls),
  };
  const ofContent = contentAssertions(monitor, context);
  return {
    target,
    assertions: [...(isInverted ? [] : rule.assertions), ...ofContent],
    shouldFail: rule.shouldFail,
    ipFamily: familyOf(monitor),
  };
}

/** `200-299` or `200`. */
function isWithin(status: number, range: string): boolean {
  const [, from, to] = /^\s*(\d{3})(?:\s*-\s*(\d{3}))?\s*$/.exec(range) ?? [];
  return from !== undefined && status >= Number(from) && status <= Number(to ?? from);
}

const BODY_TYPES = new Map<string, HttpProbe['bodyType']>([
  ['json', 'JSON'],
  ['form', 'FORM'],
]);

function contentOf(
  monitor: RawMapping,
  { name, origin, draft }: MonitorContext,
): Pick<HttpProbe, 'headers' | 'body' | 'bodyType'> {
  const written = headersIn(textOf(monitor.headers) ?? '');
  if (written === null) {
    const why = 'its headers are not a JSON object';
    draft.report.leftOut(below(origin, 'headers'), why, 'write them into headers of the check');
  }
  const headers = (written ?? []).map(({ key, value }) => ({
    key,
    value: draft.variables.header(key, value, name),
  }));
  const body = draft.variables.text(textOf(monitor.body) ?? '', `${name}_BODY`);
  const encoding = textOf(monitor.httpBodyEncoding) ?? 'json';
  const hasType = headers.some(({ key }) => key.toLowerCase() === 'content-type');
  const isXml = encoding === 'xml' && body !== '' && !hasType;
  const ofXml = { key: 'Content-Type', value: 'text/xml; charset=utf-8' };
  return {
    headers: isXml ? [...headers, ofXml] : headers,
    body,
    bodyType: BODY_TYPES.get(encoding) ?? 'RAW',
  };
}

/** null for a text that is no JSON object. */
function headersIn(text: string): readonly KeyValue[] | null {
  if (text.trim() === '') return [];
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null;
    return Object.entries(parsed).map(([key, value]) => ({ key, value: String(value) }));
  } catch {
    return null;
  }
}

function credentialsOf(
  monitor: RawMapping,
  { name, origin, draft }: MonitorContext,
): Partial<Pick<HttpProbe, 'basicAuth' | 'auth'>> {
  const { variables, report } = draft;
  const method = textOf(monitor.authMethod) ?? '';
  const username = textOf(monitor.basic_auth_user) ?? '';
  if (method === 'basic' || (method === '' && username !== '')) {
    const password = textOf(monitor.basic_auth_pass);
    const secret = variables.secret(password, `${name}_PASSWORD`, `the password of ${name}`);
    return { basicAuth: { username, password: secret } };
  }
  if (method === 'oauth2-cc') {
    const given = textOf(monitor.oauth_client_secret);
    const meaning = `the client secret of ${name}`;
    const scope = textOf(monitor.oauth_scopes) ?? '';
    const audience = textOf(monitor.oauth_audience) ?? '';
    const isInBody = monitor.oauth_auth_method === 'client_secret_post';
    const auth = {
      type: 'OAUTH2_CLIENT_CREDENTIALS',
      tokenUrl: textOf(monitor.oauth_token_url) ?? '',
      clientId: textOf(monitor.oauth_client_id) ?? '',
      clientSecret: variables.secret(given, `${name}_CLIENT_SECRET`, meaning),
      ...(scope === '' ? {} : { scope }),
      ...(audience === '' ? {} : { audience }),
      ...(isInBody ? { clientAuthentication: 'BODY' } : {}),
    };
    return { auth };
  }
  if (method === 'mtls') {
    const advice = 'add an entry to clientCertificates of the file, with cert, key and ca';
    report.leftOut(
      below(origin, 'authMethod'),
      'client certificates are not part of checks',
      advice,
    );
  } else if (method !== '' && method !== 'bearer') {
    const why = `checks do not authenticate with ${method.slice(0, 20)}`;
    report.leftOut(below(origin, 'authMethod'), why, 'use basicAuth, or auth of the type DIGEST');
  }
  return {};
}

function bearerOf(
  { authMethod, bearer_token }: RawMapping,
  { name, draft }: MonitorContext,
): readonly KeyValue[] {
  if (authMethod !== 'bearer') return [];
  const meaning = `the bearer token of ${name}`;
  const token = draft.variables.secret(textOf(bearer_token), `${name}_TOKEN`, meaning);
  return [{ key: 'Authorization', value: `Bearer ${token}` }];
}

function contentAssertions(monitor: RawMapping, context: MonitorContext): readonly Assertion[] {
  const { origin, draft } = context;
  const type = textOf(monitor.type);
  if (type === 'keyword') {
    const comparison = isTrue(monitor.invertKeyword) ? 'NOT_CONTAINS' : 'CONTAINS';
    return [assertion('TEXT_BODY', comparison, textOf(monitor.keyword) ?? '')];
  }
  if (type !== 'json-query') return [];
  const property = jsonPathOf(textOf(monitor.jsonPath) ?? '$');
  const comparison = COMPARISONS.get(textOf(monitor.jsonPathOperator) ?? '==');
  if (property === null || comparison === undefined) {
    const why =
      property === null
        ? 'the expression (JSONata) has no simple translation to JSONPath (RFC 9535)'
        : 'assertions compare with LESS_THAN and GREATER_THAN only';
    draft.report.leftOut(below(origin, 'jsonPath'), why, 'write an assertion on JSON_BODY');
    return [];
  }
  const target = textOf(monitor.expectedValue) ?? '';
  return [
    assertion('JSON_BODY', comparison, target, { property: property === '$' ? '' : property }),
  ];
}

const COMPARISONS = new Map<string, Assertion['comparison']>([
  ['==', 'EQUALS'],
  ['!=', 'NOT_EQUALS'],
  ['<', 'LESS_THAN'],
  ['>', 'GREATER_THAN'],
  ['contains', 'CONTAINS'],
]);

function tcpProbe(asked: AskedTcp, monitor: RawMapping): ReturnType<Maker> {
  return 'why' in asked ? asked : other({ type: 'TCP', request: asked.request }, monitor);
}

function pingProbe(monitor: RawMapping): ReturnType<Maker> {
  const hostname = (textOf(monitor.hostname) ?? '').trim();
  const pingCount = Math.min(Math.max(1, Math.round(numberOf(monitor.ping_count) ?? 1)), 50);
  return other({ type: 'ICMP', request: { hostname, pingCount } }, monitor);
}

function dnsProbe(monitor: RawMapping, { origin, draft }: MonitorContext): ReturnType<Maker> {
  const [first = '', ...more] = (textOf(monitor.dns_resolve_server) ?? '')
    .split(',')
    .map((server) => server.trim());
  if (more.length > 0) {
    const why = 'a check asks one name server, and only the first is taken';
    const advice = 'copy the check for each of the others';
    draft.report.leftOut(below(origin, 'dns_resolve_server'), why, advice);
  }
  const server = hostAndPort(first);
  const port = server?.port ?? numberOf(monitor.port) ?? 53;
  const request = {
    query: (textOf(monitor.hostname) ?? '').trim(),
    recordType: (textOf(monitor.dns_resolve_type) ?? 'A').toUpperCase(),
    ...(server === null ? {} : { nameServer: server.hostname }),
    ...(port === 53 ? {} : { port }),
  };
  return other({ type: 'DNS', request }, monitor);
}

function other(target: Made['target'], monitor: RawMapping): Made {
  return { target, assertions: [], shouldFail: false, ipFamily: familyOf(monitor) };
}

function familyOf({ ipFamily }: RawMapping): Probe['ipFamily'] {
  if (ipFamily === 'ipv4') return 'IPv4';
  return ipFamily === 'ipv6' ? 'IPv6' : 'ANY';
}
