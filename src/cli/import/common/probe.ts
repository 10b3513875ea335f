import { isIP } from 'node:net';
import { ASSERTION_SOURCES, type Assertion } from '../../../model/check/assertions/assertion.ts';
import type { RunnableCheckType } from '../../../model/enums.ts';
import { MINUTE_MS, SECOND_MS } from '../../../model/time-units.ts';
import { durationText } from '../../../runtime/text/duration-text.ts';
import { nearestSchedule, type Schedule } from './periods.ts';

export interface KeyValue {
  readonly key: string;
  readonly value: string;
}

export interface HttpProbe {
  readonly type: 'HTTP';
  readonly url: string;
  readonly method: string;
  readonly headers: readonly KeyValue[];
  readonly bodyType: 'JSON' | 'FORM' | 'RAW' | 'GRAPHQL';
  /** Empty for none. */
  readonly body: string;
  readonly basicAuth: { readonly username: string; readonly password: string } | null;
  readonly auth: Readonly<Record<string, string>> | null;
  readonly followRedirects: boolean;
  readonly skipSSL: boolean;
}

export const PLAIN_GET: Omit<HttpProbe, 'url'> = {
  type: 'HTTP',
  method: 'GET',
  headers: [],
  bodyType: 'RAW',
  body: '',
  basicAuth: null,
  auth: null,
  followRedirects: true,
  skipSSL: false,
};

/** A check of another type: its request without defaults and assertions. */
export interface OtherProbe {
  readonly type: 'TCP' | 'DNS' | 'ICMP';
  readonly request: Readonly<Record<string, unknown>>;
}

/** The target of a probe and its expectations, without the period. */
export interface Probe {
  readonly target: HttpProbe | OtherProbe;
  readonly assertions: readonly Assertion[];
  readonly shouldFail: boolean;
  /** `ANY` is the default of imported checks. */
  readonly ipFamily: 'IPv4' | 'IPv6' | 'ANY';
  /** null for the longest timeout that a check can have. */
  readonly timeoutMs: number | null;
}

export interface BuiltBody {
  readonly checkType: RunnableCheckType;
  readonly request: Readonly<Record<string, unknown>>;
  readonly assertions: readonly Assertion[];
  /** All other fields. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Differences of timeout and period from the source; each continues `changed: `. */
  readonly changes: readonly string[];
}

const LONGEST_MS = { URL: 30_000, API: 30_000, TCP: 5000, DNS: 5000 } as const;
/** For a single echo: loss equal to a threshold exceeds it. */
const ANY_LOSS = { degradedPacketLossThreshold: 100, maxPacketLossThreshold: 100 };

/** Builds the check that corresponds to the probe as closely as possible. */
export function bodyOf(probe: Probe, periodMs: number): BuiltBody {
  const { target, assertions, shouldFail, timeoutMs } = probe;
  const checkType = typeOf(probe, periodMs);
  const schedule = nearestSchedule(periodMs, checkType === 'API' || checkType === 'TCP');
  const changes: string[] = [];
  if (schedule.periodMs !== periodMs) {
    const runs = `runs every ${durationText(schedule.periodMs)} instead of every ${durationText(periodMs)}`;
    const nearest = `${runs}, the nearest period of ${checkType} checks`;
    changes.push(`${nearest}${secondsAdvice(periodMs, schedule)}`);
  }
  const limits: Record<string, number> = {};
  if (checkType === 'ICMP') Object.assign(limits, ANY_LOSS);
  else {
    const longestMs = LONGEST_MS[checkType];
    limits.maxResponseTime = Math.min(timeoutMs ?? longestMs, longestMs);
    if (timeoutMs !== null && timeoutMs > longestMs) {
      const limit = `the time limit is ${longestMs / SECOND_MS} s instead of ${timeoutMs / SECOND_MS} s`;
      changes.push(`${limit}, the longest of ${checkType} checks`);
    }
  }
  return {
    checkType,
    request:
      target.type === 'HTTP' ? httpRequest(target, checkType, probe) : otherRequest(target, probe),
    assertions,
    fields: { ...(shouldFail ? { shouldFail } : {}), ...schedule.fields, ...limits },
    changes,
  };
}

/** Advice on sub-minute schedules if such a period is nearer; empty if not. */
function secondsAdvice(periodMs: number, chosen: Schedule): string {
  const { fields } = nearestSchedule(periodMs, true);
  if (fields.frequency !== 0 || chosen.fields.frequency === 0) return '';
  const where = 'in a file without a service, or with ALLOW_SUBMINUTE=on of the service';
  return ` of every service; ${where}, set frequency: 0 and frequencyOffset: ${fields.frequencyOffset}`;
}

/** URL if such a check suffices, else API. API checks can also run more often than once a minute. */
function typeOf({ target, assertions }: Probe, periodMs: number): RunnableCheckType {
  if (target.type !== 'HTTP') return target.type;
  const { method, headers, body, basicAuth, auth } = target;
  const sources: readonly string[] = ASSERTION_SOURCES.URL;
  const isPlain = method === 'GET' && headers.length === 0 && body === '';
  const hasAuth = basicAuth !== null || auth !== null;
  const fits = assertions.every(({ source }) => sources.includes(source));
  return isPlain && !hasAuth && fits && periodMs >= MINUTE_MS ? 'URL' : 'API';
}

function httpRequest(
  target: HttpProbe,
  checkType: RunnableCheckType,
  { ipFamily }: Probe,
): Record<string, unknown> {
  const { url, method, headers, bodyType, body, basicAuth, auth } = target;
  const { followRedirects, skipSSL } = target;
  const ofApi = {
    ...(headers.length === 0 ? {} : { headers }),
    ...(body === '' ? {} : { bodyType, body }),
    ...(basicAuth === null ? {} : { basicAuth }),
    ...(auth === null ? {} : { auth }),
  };
  return {
    ...(method === 'GET' ? {} : { method }),
    url,
    ...(checkType === 'API' ? ofApi : {}),
    ...(followRedirects ? {} : { followRedirects }),
    ...(skipSSL ? { skipSSL } : {}),
    ...familyField(ipFamily),
  };
}

function otherRequest({ type, request }: OtherProbe, { ipFamily }: Probe): Record<string, unknown> {
  return { ...request, ...(type === 'DNS' ? {} : familyField(ipFamily)) };
}

function familyField(ipFamily: Probe['ipFamily']): object {
  return ipFamily === 'ANY' ? {} : { ipFamily };
}

export interface HostAndPort {
  readonly hostname: string;
  readonly port: number | null;
}

/** `host:port`, `[::1]:port`, a host or an address; null for anything else. */
export function hostAndPort(text: string): HostAndPort | null {
  if (isIP(text) !== 0) return { hostname: text, port: null };
  const match = /^(?:\[([^\]]+)\]|([^:/\s]+))(?::(\d{1,5}))?$/.exec(text);
  if (match === null) return null;
  const [, address, host = '', port] = match;
  return { hostname: address ?? host, port: port === undefined ? null : Number(port) };
}
