import type { RawMapping } from '../../../agent/source/common/raw-mapping.ts';
import { MAX_RETRY_SECONDS } from '../../../model/check/retry.ts';
import { MINUTE_MS, SECOND_MS } from '../../../model/time-units.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import type { Draft } from '../common/draft.ts';
import {
  isTrue,
  isUnset,
  listOf,
  mappingOf,
  NOTHING_NEEDED,
  numberOf,
  type Reason,
  reportReason,
  textOf,
} from '../common/fields.ts';
import { below, type Origin, type SourceFile } from '../common/source-file.ts';
import { probeOfMonitor } from './monitor-probe.ts';

const MAX_RETRIES = 10;
const MIN_HEARTBEAT_SECONDS = 30;

/** Lists of a backup other than its monitors. */
const LIST_REASONS: Readonly<Record<string, readonly [noun: string, ...Reason]>> = {
  notificationList: [
    'notification',
    'their settings contain secrets, and belong to alert channels',
    'add alertChannels to the file',
  ],
  proxyList: ['proxy', 'checks have no proxy of their own', 'set proxyUrl of the private location'],
  statusPageList: ['status page', 'status pages are not read', 'add statusPages to the file'],
  maintenanceList: [
    'maintenance',
    'times of maintenance are not read',
    'add maintenanceWindows to the file',
  ],
};
const MONITOR_REASONS: Readonly<Record<string, Reason>> = {
  proxyId: ['checks have no proxy of their own', 'set proxyUrl of the private location'],
  resendInterval: ['reminders are alert settings', 'set reminders in alertSettings of the check'],
  conditions: ['the import does not read conditions', 'write assertions by hand'],
  packetSize: ['echo requests of checks have 56 data bytes', NOTHING_NEEDED],
  tlsCa: [
    'certificate authorities are not part of checks',
    'add an entry to clientCertificates of the file',
  ],
  retryOnlyOnStatusCodeFailure: [
    'a check retries a failed run whatever the reason',
    'set retryStrategy of the check to null for no retries',
  ],
  cacheBust: ['checks add no random parameter to the URL', 'let the target send Cache-Control'],
};
/** Its default, which every monitor has, changes nothing. */
const USUAL_PACKET_SIZE = 56;

/** Creates checks, heartbeats and groups from the monitors of a backup. */
export function importUptimeKuma(file: SourceFile, draft: Draft): void {
  const backup = mappingOf(file.value);
  const monitors = listOf(backup.monitorList).map((raw, index) => ({
    monitor: mappingOf(raw),
    origin: { file, path: ['monitorList', index] },
  }));
  const groups = new Map<number, string>();
  for (const { monitor, origin } of monitors) {
    const id = numberOf(monitor.id);
    if (monitor.type !== 'group' || id === null) continue;
    const name = textOf(monitor.name) ?? 'group';
    groups.set(id, draft.group(`${file.name} ${id}`, name, origin));
    if (isUnset(monitor.parent)) continue;
    const why = 'a group is in no other group';
    draft.report.leftOut(below(origin, 'parent'), why, 'give its checks the tags that they need');
  }
  for (const { monitor, origin } of monitors) {
    if (monitor.type !== 'group') importMonitor(monitor, origin, groups, draft);
  }
  reportLists(backup, { file, path: [] }, draft);
  reportExpiries(
    monitors.map(({ monitor }) => monitor),
    { file, path: ['monitorList'] },
    draft,
  );
}

function importMonitor(
  monitor: RawMapping,
  origin: Origin,
  groups: ReadonlyMap<number, string>,
  draft: Draft,
): void {
  const { report } = draft;
  const name = textOf(monitor.name) ?? 'monitor';
  const parent = numberOf(monitor.parent);
  const entry = {
    name,
    origin,
    tags: listOf(monitor.tags).flatMap((raw) => tagOf(mappingOf(raw))),
    activated: monitor.active === undefined || isTrue(monitor.active),
    description: textOf(monitor.description),
    groupId: parent === null ? null : (groups.get(parent) ?? null),
  };
  const intervalSeconds = numberOf(monitor.interval) ?? MINUTE_MS / SECOND_MS;
  const retries = numberOf(monitor.maxretries) ?? 0;
  const retrySeconds = numberOf(monitor.retryInterval) ?? intervalSeconds;
  if (monitor.type === 'push') {
    const periodSeconds = Math.max(Math.round(intervalSeconds), MIN_HEARTBEAT_SECONDS);
    if (periodSeconds > intervalSeconds) {
      const period = `a ping is expected every ${periodSeconds} s instead of every ${intervalSeconds} s`;
      report.changed(below(origin, 'interval'), `${period}, the shortest period`);
    }
    draft.addHeartbeat({
      ...entry,
      periodSeconds,
      graceSeconds: Math.round(retries * retrySeconds),
    });
    return;
  }
  const probe = probeOfMonitor(monitor, { name, origin, draft });
  if ('why' in probe) {
    report.leftOut(origin, probe.why, probe.advice);
    return;
  }
  reportFields(monitor, origin, draft);
  const timeoutSeconds = numberOf(monitor.timeout) ?? 0;
  draft.addCheck({
    ...entry,
    probe: { ...probe, timeoutMs: timeoutSeconds > 0 ? timeoutSeconds * SECOND_MS : null },
    periodMs: intervalSeconds * SECOND_MS,
    scheduleOrigin: origin,
    retryStrategy: retryStrategyOf(retries, retrySeconds, origin, draft),
  });
}

function tagOf({ name, value }: RawMapping): readonly string[] {
  const [label, text] = [textOf(name) ?? '', textOf(value) ?? ''];
  if (label === '') return [];
  return [text === '' ? label : `${label}:${text}`];
}

/** Retries at a constant interval; the last one begins within ten minutes. */
function retryStrategyOf(
  retries: number,
  retrySeconds: number,
  origin: Origin,
  { report }: Draft,
): Readonly<Record<string, unknown>> | null {
  if (retries <= 0) return null;
  const maxRetries = Math.min(Math.round(retries), MAX_RETRIES);
  const baseBackoffSeconds = Math.min(Math.max(0, retrySeconds), MAX_RETRY_SECONDS);
  const isShorter = maxRetries < retries || maxRetries * baseBackoffSeconds > MAX_RETRY_SECONDS;
  if (isShorter || baseBackoffSeconds < retrySeconds) {
    const limits = `${MAX_RETRIES} retries, and ${MAX_RETRY_SECONDS} s from the first attempt`;
    report.changed(below(origin, 'maxretries'), `a run has at most ${limits}`);
  }
  return {
    type: 'FIXED',
    baseBackoffSeconds,
    maxRetries,
    maxDurationSeconds: MAX_RETRY_SECONDS,
  };
}

function reportFields(monitor: RawMapping, origin: Origin, { report }: Draft): void {
  for (const [field, reason] of Object.entries(MONITOR_REASONS)) {
    const value = monitor[field];
    if (isUnset(value) || value === 0) continue;
    if (field === 'packetSize' && (monitor.type !== 'ping' || value === USUAL_PACKET_SIZE))
      continue;
    reportReason(below(origin, field), reason, report);
  }
}

/** Reports each list in one line, since a backup may have hundreds of notifications. */
function reportLists(backup: RawMapping, origin: Origin, { report }: Draft): void {
  for (const [field, [noun, why, advice]] of Object.entries(LIST_REASONS)) {
    const { length } = listOf(backup[field]);
    const plural = noun === 'proxy' ? 'proxies' : noun === 'maintenance' ? noun : undefined;
    if (length === 0) continue;
    report.leftOut(below(origin, field), `${countText(length, noun, plural)}: ${why}`, advice);
  }
}

/** Reports a setting that most monitors have in one line for all. */
function reportExpiries(monitors: readonly RawMapping[], origin: Origin, { report }: Draft): void {
  const count = monitors.filter(
    ({ expiryNotification, url }) =>
      isTrue(expiryNotification) && /^https:/i.test(textOf(url) ?? ''),
  ).length;
  if (count > 0) {
    const why = `expiryNotification of ${countText(count, 'monitor')}: alert channels notify of certificates`;
    report.leftOut(origin, why, 'set sslExpiry of a channel');
  }
  const domains = monitors.filter(({ domainExpiryNotification }) =>
    isTrue(domainExpiryNotification),
  ).length;
  if (domains === 0) return;
  const why = `domainExpiryNotification of ${countText(domains, 'monitor')}: checks do not ask when domains expire`;
  report.leftOut(origin, why, 'keep another reminder for the domains');
}
