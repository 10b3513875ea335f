import { gzipSync } from 'node:zlib';
import type { RunnableCheckType } from '../../../../src/model/enums.ts';
import { artifactIdOf, resultIdOf, sequenceIdOf } from '../../../../src/model/ids.ts';
import type { LogEntry } from '../../../../src/model/result/details/check-detail.ts';
import type { HttpDetail, HttpResponse } from '../../../../src/model/result/details/http-detail.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import type { Traceroute, TracerouteHop } from '../../../../src/model/result/traceroute.ts';
import { insertArtifact } from '../../../../src/service/artifacts/sql.ts';
import { giveEverySlot } from '../../../support/agent/assigned-slots.ts';
import { resultFor } from '../../../support/samples/results.ts';
import type { DashboardAccount, DashboardService } from '../../support/dashboard-service.ts';

const MINUTE_MS = 60_000;
/** Between the runs of the checks. */
const PERIOD_MS = 5 * MINUTE_MS;
const URL = 'https://orders.example.com/api/v2/orders?limit=20';
const BATCH = 100;

/** Locations with agents' keys, by their slugs. */
export type Keys<Slug extends string> = Readonly<Record<Slug, string>>;

export async function addLocations<const Slug extends string>(
  { accountId }: DashboardAccount,
  { features }: DashboardService,
  slugs: readonly Slug[],
): Promise<Keys<Slug>> {
  const keys: Partial<Record<Slug, string>> = {};
  for (const slug of slugs) {
    const { id } = await features.privateLocations.create(accountId, { slug, name: slug });
    keys[slug] = (await features.locationKeys.create(accountId, id)).key;
  }
  return keys as Keys<Slug>;
}

/** Creates the check as a user would, and gives its locations every slot. */
export async function addCheck(
  account: DashboardAccount,
  { store }: DashboardService,
  id: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<void> {
  const reply = await account.put(`/v1/checks/${id}`, fields);
  if (reply.status !== 200) throw new Error(reply.text);
  const slugs = fields.privateLocations as readonly string[];
  await giveEverySlot(store, { accountId: account.accountId, checkId: id, slugs });
}

/** Sends results and missed slots as the agent of a location would. */
export async function deliver(
  { app }: DashboardService,
  key: string,
  results: readonly CheckResult[],
  missed: readonly object[] = [],
): Promise<void> {
  for (let from = 0; from === 0 || from < results.length; from += BATCH) {
    const batch = results.slice(from, from + BATCH);
    const body = gzipSync(
      JSON.stringify({
        agentId: 'agent-7f2c',
        epoch: 1,
        results: batch,
        missed: from === 0 ? missed : [],
      }),
    );
    const reply = await app.ask('/agent/v1/results', {
      key,
      method: 'POST',
      headers: {
        'x-agent-protocol': '1',
        'content-encoding': 'gzip',
        'content-type': 'application/json',
      },
      body,
    });
    const wanted = batch.length + (from === 0 ? missed.length : 0);
    if (reply.status !== 200 || reply.json.accepted.length !== wanted) throw new Error(reply.text);
  }
}

/** The beginning of the slot this many periods ago. */
export function slotAgo(periods: number, nowMs = Date.now()): number {
  return Math.floor(nowMs / PERIOD_MS) * PERIOD_MS - periods * PERIOD_MS;
}

export interface RunOf {
  readonly checkId: string;
  readonly name: string;
  readonly checkType: RunnableCheckType;
  readonly slotMs: number;
  readonly location: string;
  readonly attempts?: number;
}

/** A result with the ids that the service derives. */
export function runOf(
  { checkId, name, checkType, slotMs, location, attempts = 0 }: RunOf,
  fields: Partial<CheckResult>,
): CheckResult {
  const sequenceId = sequenceIdOf(checkId, location, slotMs);
  const startedMs = slotMs + 4 + attempts * 2_000;
  const stoppedMs = startedMs + Math.ceil(fields.responseTime ?? 0);
  return resultFor({
    checkId,
    name,
    checkType,
    runLocation: location,
    checkRunId: slotMs,
    attempts,
    sequenceId,
    id: resultIdOf(sequenceId, attempts + 1),
    startedAt: new Date(startedMs).toISOString(),
    stoppedAt: new Date(stoppedMs).toISOString(),
    created_at: new Date(stoppedMs).toISOString(),
    ...fields,
  });
}

export const CERTIFICATE = {
  subject: 'CN=orders.example.com',
  issuer: "C=US, O=Let's Encrypt, CN=R11",
  subjectAltNames: ['orders.example.com', 'www.orders.example.com'],
  validFrom: '2026-09-24T00:00:00.000Z',
  validTo: '2027-01-24T00:00:00.000Z',
  daysRemaining: 61,
  serialNumber: '04:A1:5C:0F:9B:22:7D:EE:10:43',
  fingerprint256: `${'3F:9A:'.repeat(15)}3F:9A`,
};

/** The detail of an exchange over HTTPS of this duration, most of it until the first byte. */
export function httpDetail(
  totalMs: number,
  {
    response,
    ...fields
  }: Partial<Omit<HttpDetail, 'response'>> & {
    readonly response?: Partial<HttpResponse> | null;
  } = {},
): HttpDetail {
  const phases = { wait: 0.1, dns: 1.9, tcp: 12.4, tls: 31.2, download: 6.1 };
  const before = phases.wait + phases.dns + phases.tcp + phases.tls + phases.download;
  const timingPhases = { ...phases, firstByte: Math.max(1, totalMs - before), total: totalMs };
  return {
    request: {
      method: 'GET',
      url: URL,
      data: '',
      headers: { accept: 'application/json', authorization: '***' },
      params: {},
    },
    response:
      response === null
        ? null
        : {
            status: 200,
            statusText: 'OK',
            httpVersion: '2',
            headers: {
              'content-type': 'application/json; charset=utf-8',
              'cache-control': 'no-store',
              server: 'nginx',
              'set-cookie': ['session=***; HttpOnly', 'region=eu'],
            },
            ip: '10.80.7.11',
            ipFamily: 'IPv4',
            url: URL,
            redirects: [],
            tls: {
              protocol: 'TLSv1.3',
              cipher: 'TLS_AES_128_GCM_SHA256',
              alpnProtocol: 'h2',
              authorized: true,
              certificate: CERTIFICATE,
            },
            body: '{\n  "orders": [\n    { "id": 7301, "state": "paid" }\n  ],\n  "index": "orders-v2"\n}',
            bodyEncoding: 'text',
            bodyBytes: 18_214,
            bodyTruncated: false,
            timings: {
              socket: 0.1,
              lookup: 2,
              connect: 14.4,
              secureConnect: 45.6,
              response: totalMs - phases.download,
              end: totalMs,
            },
            timingPhases,
            ...response,
          },
    assertions: [
      {
        source: 'STATUS_CODE',
        property: '',
        comparison: 'EQUALS',
        target: '200',
        regex: null,
        actual: '200',
        error: null,
      },
    ],
    requestError: null,
    requestErrorCode: null,
    jobLog: [],
    jobAssets: [],
    pcapDataUrl: null,
    traceroute: null,
    timing: { uncertaintyMs: 0, clock: 'kernel' },
    tcp: { peer: 'target', rttMs: 12.1, minRttMs: 11.8, retransmits: 0, mss: 1_448 },
    ...fields,
  };
}

function hop(
  number: number,
  address: string | null,
  lossPercent: number,
  ms: number | null,
): TracerouteHop {
  return {
    hop: number,
    address,
    host: address === null ? null : `r${number}.core.example.net`,
    sent: 10,
    received: Math.round(10 - lossPercent / 10),
    lossPercent,
    lastMs: ms,
    avgMs: ms,
    bestMs: ms === null ? null : ms * 0.8,
    worstMs: ms === null ? null : ms * 2.3,
    stdDevMs: ms === null ? null : 0.4,
  };
}

export const TRACE: Traceroute = {
  hostname: 'orders.example.com',
  resolvedIp: '10.80.7.11',
  destinationReached: false,
  truncationReason: 'no reply from 3 hops in a row',
  hops: [
    hop(1, '10.10.0.1', 0, 0.4),
    hop(2, '10.80.2.2', 20, 3.1),
    hop(3, null, 100, null),
    hop(4, null, 100, null),
    hop(5, null, 100, null),
  ],
};

function logOf(
  startMs: number,
  lines: readonly (readonly [number, LogEntry['level'], string])[],
): LogEntry[] {
  return lines.map(([ms, level, msg]) => ({ time: startMs + ms, level, msg }));
}

const TIMEOUT_MESSAGE =
  'orders.example.com (10.80.7.11) did not accept the connection on port 443 within 10 s';

/** A failed attempt with trace and capture. */
export function timeoutDetail(slotMs: number, capture: string | null): HttpDetail {
  return {
    ...httpDetail(10_014, { response: null }),
    assertions: [],
    requestError: TIMEOUT_MESSAGE,
    requestErrorCode: 'CONNECT_TIMEOUT',
    traceroute: TRACE,
    pcapDataUrl: capture,
    timings: {
      socket: 0.1,
      lookup: 14,
      connect: null,
      secureConnect: null,
      response: null,
      end: null,
    },
    timingPhases: {
      wait: 0.1,
      dns: 13.9,
      tcp: 10_000,
      tls: 0,
      firstByte: 0,
      download: 0,
      total: 10_014,
    },
    tcp: null,
    jobLog: logOf(slotMs + 4, [
      [0, 'info', 'Attempt 2 of at most 2'],
      [14, 'info', 'resolved orders.example.com to 10.80.7.11 (13.9 ms)'],
      [10_014, 'error', `CONNECT_TIMEOUT: ${TIMEOUT_MESSAGE}`],
      [
        10_015,
        'info',
        'Failed in the phase "connect", towards orders.example.com:443 at 10.80.7.11 (TCP)',
      ],
      [
        10_016,
        'info',
        'What to try: Check whether a firewall or security group drops the packets, and whether the host is up; a trace shows the hop where it ends.',
      ],
    ]),
  };
}

/** Varies as response times do, the same in every run. */
function varied(index: number, meanMs: number): number {
  return meanMs * (0.85 + 0.3 * Math.abs(Math.sin(index * 1.7)) + (index % 37 === 0 ? 0.9 : 0));
}

export interface Sample {
  /** Runs of a check that fails since 4 periods, with retries, trace and capture. */
  readonly checkId: string;
  readonly failedId: string;
  readonly retriedId: string;
  readonly passedId: string;
}

export const ORDERS = {
  checkType: 'API',
  name: 'Orders API',
  description: 'Order list of the shop, as the app reads it',
  tags: ['production', 'shop'],
  frequency: 5,
  privateLocations: ['office', 'dc-2'],
  degradedResponseTime: 400,
  maxResponseTime: 1_000,
  retryStrategy: { type: 'FIXED', baseBackoffSeconds: 2, maxRetries: 1 },
  request: {
    method: 'GET',
    url: URL,
    headers: [{ key: 'accept', value: 'application/json' }],
    assertions: [{ source: 'STATUS_CODE', comparison: 'EQUALS', target: '200' }],
  },
};

/** A day of a check that two locations run in turn: slow in the night, a gap, and failing now. */
export async function addFailingCheck(
  account: DashboardAccount,
  service: DashboardService,
): Promise<Sample> {
  const keys = await addLocations(account, service, ['office', 'dc-2']);
  const checkId = 'orders';
  await addCheck(account, service, checkId, ORDERS);
  const nowMs = Date.now();
  const of = { checkId, name: ORDERS.name, checkType: 'API' as const };
  const byLocation: Record<string, CheckResult[]> = { office: [], 'dc-2': [] };
  for (let ago = 290; ago >= 5; ago -= 1) {
    if (ago > 150 && ago <= 168) continue;
    const location = ago % 2 === 0 ? 'office' : 'dc-2';
    const slotMs = slotAgo(ago, nowMs);
    const isSlow = ago > 225 && ago < 240;
    const ms = varied(ago, isSlow ? 520 : location === 'office' ? 184 : 240);
    byLocation[location]?.push(
      runOf(
        { ...of, slotMs, location },
        { responseTime: ms, isDegraded: ms > 400, apiCheckResult: httpDetail(ms) },
      ),
    );
  }
  let failed: CheckResult | null = null;
  let retried: CheckResult | null = null;
  for (let ago = 4; ago >= 1; ago -= 1) {
    const slotMs = slotAgo(ago, nowMs);
    const run = { ...of, slotMs, location: 'office' };
    const id = resultIdOf(sequenceIdOf(checkId, 'office', slotMs), 2);
    const capture = `/v1/artifacts/${artifactIdOf(id, 'capture.pcap')}`;
    const shared = { responseTime: 10_014, hasFailures: true, overMaxResponseTime: false };
    retried = runOf(run, {
      ...shared,
      resultType: 'ATTEMPT',
      apiCheckResult: timeoutDetail(slotMs, null),
    });
    failed = runOf(
      { ...run, attempts: 1 },
      { ...shared, apiCheckResult: timeoutDetail(slotMs, capture) },
    );
    byLocation.office?.push(retried, failed);
  }
  const [firstMissed, lastMissed] = [slotAgo(168, nowMs), slotAgo(151, nowMs)];
  const missed = {
    id: 'gap',
    checkId,
    slot: firstMissed,
    lastSlot: lastMissed,
    count: 18,
    reason: 'agent_stopped',
  };
  await deliver(service, keys.office, byLocation.office ?? [], [missed]);
  await deliver(service, keys['dc-2'], byLocation['dc-2'] ?? []);
  if (failed === null || retried === null) throw new Error('no run failed');
  await addCapture(account, service, failed);
  const passed = byLocation['dc-2']?.at(-1);
  return { checkId, failedId: failed.id, retriedId: retried.id, passedId: passed?.id ?? '' };
}

/** As if the agent had uploaded it. */
export async function addCapture(
  { accountId }: DashboardAccount,
  { store }: DashboardService,
  { checkId, id: resultId, runLocation }: Pick<CheckResult, 'checkId' | 'id' | 'runLocation'>,
): Promise<void> {
  const artifactId = artifactIdOf(resultId, 'capture.pcap');
  await insertArtifact(store, {
    accountId,
    checkId,
    resultId,
    runLocation,
    artifactId,
    rowId: artifactId,
    name: 'capture.pcap',
    contentType: 'application/vnd.tcpdump.pcap',
    sha256: 'ab'.repeat(32),
    bytes: 48_213,
  });
}
