import type { RawMapping } from '../../../agent/source/common/raw-mapping.ts';
import type { Assertion } from '../../../model/check/assertions/assertion.ts';
import { MINUTE_MS, SECOND_MS } from '../../../model/time-units.ts';
import { statusRuleOf } from '../common/accepted-statuses.ts';
import type { Draft } from '../common/draft.ts';
import {
  isTrue,
  listOf,
  mappingOf,
  NOTHING_NEEDED,
  type Reason,
  reportOthers,
  textOf,
  textsOf,
} from '../common/fields.ts';
import { durationMs } from '../common/periods.ts';
import { below, type Origin, type SourceFile } from '../common/source-file.ts';
import { meaningOf, type ProbeType } from './conditions.ts';
import { targetOf } from './endpoint-target.ts';

const DEFAULT_TIMEOUT_MS = 10 * SECOND_MS;
/** The shortest period of a heartbeat. */
const MIN_HEARTBEAT_SECONDS = 30;

const ALERTS: Reason = [
  'alerts are settings of the service',
  'add alertChannels to the file, and alertSettings to its checks',
];
const WINDOWS: Reason = ['times of maintenance are not read', 'add maintenanceWindows to the file'];
const TOP_REASONS: Readonly<Record<string, Reason>> = {
  alerting: ALERTS,
  maintenance: WINDOWS,
  suites: [
    'checks run by themselves, without values of other checks',
    'keep the suites, or write a script that pings a heartbeat',
  ],
  announcements: [
    'messages to readers are incidents of a status page',
    'write them in the dashboard',
  ],
  remote: ['a check file has no other instances', 'import the file of each instance'],
  connectivity: [
    'whether the agent has a network is a setting of the agent',
    'set CONNECTIVITY_CHECK of the agent',
  ],
  tunneling: ['checks have no tunnels', 'run an agent in that network'],
};
/** Fields other than endpoints that concern Gatus itself, not what it monitors. */
const HANDLED: readonly string[] = [
  ...['endpoints', 'external-endpoints', 'web', 'ui', 'storage', 'metrics', 'security'],
  ...['debug', 'concurrency', 'disable-monitoring-lock', 'skip-invalid-config-update'],
];
/** Fields of a file that has no endpoints: Gatus reads several files as one. */
export const GATUS_SETTINGS: ReadonlySet<string> = new Set([
  ...HANDLED,
  ...Object.keys(TOP_REASONS),
]);
const SSH: Reason = [
  'no type of check signs in over SSH',
  'a TCP check sees that the port is open',
];
const ENDPOINT_REASONS: Readonly<Record<string, Reason>> = {
  alerts: ALERTS,
  'maintenance-windows': WINDOWS,
  store: ['checks run by themselves, without values of other checks', 'there is no replacement'],
  'always-run': ['checks run by themselves', NOTHING_NEEDED],
};
const ENDPOINT_FIELDS = [
  ...['enabled', 'name', 'group', 'url', 'method', 'conditions', 'interval', 'graphql', 'body'],
  ...['headers', 'dns', 'client', 'ui', 'extra-labels'],
];
const CLIENT_REASONS: Readonly<Record<string, Reason>> = {
  'proxy-url': ['checks have no proxy of their own', 'set proxyUrl of the private location'],
  'dns-resolver': [
    'checks use the name servers of the agent',
    'configure them where the agent runs',
  ],
  'identity-aware-proxy': [
    'checks do not sign in to such a proxy',
    'use OAUTH2_CLIENT_CREDENTIALS, or a header',
  ],
  tls: ['the client certificate is not read', 'add an entry to clientCertificates of the file'],
  tunnel: ['checks have no tunnels', 'run an agent in that network'],
};

/** Creates checks from endpoints, and heartbeats from external endpoints. */
export function importGatus(file: SourceFile, draft: Draft): void {
  const root = mappingOf(file.value);
  const origin: Origin = { file, path: [] };
  const known = Object.entries(root).filter(([key]) => Object.hasOwn(TOP_REASONS, key));
  reportOthers(Object.fromEntries(known), origin, draft.report, {
    handled: [],
    reasons: TOP_REASONS,
  });
  for (const key of Object.keys(root)) {
    if (Object.hasOwn(TOP_REASONS, key) || HANDLED.includes(key)) continue;
    // Usually it only contains values for aliases.
    draft.report.note(
      below(origin, key),
      'Gatus does not read the field, and neither does the import',
    );
  }
  for (const [index, raw] of listOf(root.endpoints).entries()) {
    importEndpoint(mappingOf(raw), below(origin, 'endpoints', index), draft);
  }
  for (const [index, raw] of listOf(root['external-endpoints']).entries()) {
    importExternal(mappingOf(raw), below(origin, 'external-endpoints', index), draft);
  }
}

function importEndpoint(endpoint: RawMapping, origin: Origin, draft: Draft): void {
  const { report } = draft;
  const facts = factsOf(endpoint, origin, draft);
  if (endpoint.ssh !== undefined) {
    report.leftOut(origin, ...SSH);
    return;
  }
  const names = { name: textOf(endpoint.name) ?? facts.name, group: facts.group };
  const found = targetOf(endpoint, names, draft);
  if ('why' in found) {
    report.leftOut(
      origin,
      found.why,
      'a TCP check can see that a TCP port is open, and a script of your own can ping a heartbeat',
    );
    return;
  }
  reportOthers(endpoint, origin, report, { handled: ENDPOINT_FIELDS, reasons: ENDPOINT_REASONS });
  const client = mappingOf(endpoint.client);
  reportOthers(client, below(origin, 'client'), report, {
    handled: ['insecure', 'ignore-redirect', 'timeout', 'oauth2', 'network'],
    reasons: CLIENT_REASONS,
  });
  if (/\[(?:RANDOM_STRING_\d+|LOCAL_ADDRESS)\]/.test(textOf(endpoint.body) ?? '')) {
    const why = 'a body can contain neither random text nor the address of the agent';
    report.leftOut(below(origin, 'body'), why, 'put a fixed text into body of the check');
  }
  const expected = expectationsOf(endpoint, found.type, origin, draft);
  if (expected === null) return;
  const network = textOf(client.network);
  draft.addCheck({
    ...facts,
    origin,
    probe: {
      target: found.target,
      ...expected,
      ipFamily: network === 'ip4' ? 'IPv4' : network === 'ip6' ? 'IPv6' : 'ANY',
      timeoutMs: durationMs(client.timeout) ?? DEFAULT_TIMEOUT_MS,
    },
    periodMs: durationMs(endpoint.interval) ?? MINUTE_MS,
    scheduleOrigin: origin,
    retryStrategy: null,
  });
}

/** null if no status is accepted, which is reported. */
function expectationsOf(
  endpoint: RawMapping,
  type: ProbeType,
  origin: Origin,
  draft: Draft,
): { readonly assertions: readonly Assertion[]; readonly shouldFail: boolean } | null {
  const { report } = draft;
  const assertions: Assertion[] = [];
  const statuses: ((status: number) => boolean)[] = [];
  for (const [index, condition] of textsOf(endpoint.conditions).entries()) {
    const meaning = meaningOf(condition, type);
    if (meaning.kind === 'assertions') assertions.push(...meaning.assertions);
    if (meaning.kind === 'status') statuses.push(meaning.accepts);
    if (meaning.kind === 'left-out') {
      report.leftOut(below(origin, 'conditions', index), ...meaning.reason);
    }
  }
  if (type !== 'HTTP') return { assertions, shouldFail: false };
  const at = below(origin, 'conditions');
  if (statuses.length === 0) {
    report.changed(at, 'no condition is about the status, and a status of 400 or more fails');
    return { assertions, shouldFail: false };
  }
  const rule = statusRuleOf((status) => statuses.every((accepts) => accepts(status)));
  if (rule === null) {
    report.leftOut(at, 'no status from 200 to 599 meets all of them', 'write the check by hand');
    return null;
  }
  return { assertions: [...rule.assertions, ...assertions], shouldFail: rule.shouldFail };
}

function importExternal(endpoint: RawMapping, origin: Origin, draft: Draft): void {
  const periodMs = durationMs(mappingOf(endpoint.heartbeat).interval) ?? 0;
  if (periodMs === 0) {
    const why = 'without heartbeat.interval nothing is expected of it';
    draft.report.leftOut(
      origin,
      why,
      'let what pushes to it report test sessions, or ping a heartbeat',
    );
    return;
  }
  reportOthers(endpoint, origin, draft.report, {
    handled: ['enabled', 'name', 'group', 'token', 'heartbeat'],
    reasons: ENDPOINT_REASONS,
  });
  const seconds = Math.round(periodMs / SECOND_MS);
  if (seconds < MIN_HEARTBEAT_SECONDS) {
    const period = `a ping is expected every ${MIN_HEARTBEAT_SECONDS} s instead of every ${seconds} s`;
    draft.report.changed(below(origin, 'heartbeat'), `${period}, the shortest period`);
  }
  draft.addHeartbeat({
    ...factsOf(endpoint, origin, draft),
    origin,
    periodSeconds: Math.max(seconds, MIN_HEARTBEAT_SECONDS),
    graceSeconds: 0,
  });
}

function factsOf(endpoint: RawMapping, origin: Origin, draft: Draft) {
  const name = textOf(endpoint.name) ?? 'endpoint';
  const group = textOf(endpoint.group) ?? '';
  const labels = Object.entries(mappingOf(endpoint['extra-labels']));
  return {
    name: group === '' ? name : `${group}: ${name}`,
    group,
    tags: labels.map(([key, value]) => `${key}:${textOf(value) ?? ''}`),
    activated: endpoint.enabled === undefined || isTrue(endpoint.enabled),
    description: null,
    groupId: group === '' ? null : draft.group(group, group, below(origin, 'group')),
  };
}
