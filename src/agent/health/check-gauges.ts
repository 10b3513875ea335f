import { Gauge, type Registry } from 'prom-client';
import type { Check } from '../../model/check/check.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { certificateOf } from '../../model/result/tls-facts.ts';
import { METRIC_TABLE, type MetricRow } from './metrics-table.ts';

type CheckLabels = Record<'check_id' | 'check_name' | 'check_type', string>;
type CheckGauge = Gauge<keyof CheckLabels>;

export type GaugedCheck = Pick<Check, 'id' | 'name' | 'checkType'>;

/** The state of each check by its last judged run. */
export interface CheckGauges {
  /** Removes the series of checks that are gone or have another name or type now. */
  setChecks(checks: readonly GaugedCheck[]): void;
  /** Takes a FINAL result that judges its target. */
  judged(result: CheckResult): void;
}

/** Series exist only for checks of the current set: a late result does not restore a removed one. */
export function createCheckGauges(registry: Registry): CheckGauges {
  const gaugeOf = ({ name, meaning, labels }: MetricRow): CheckGauge =>
    new Gauge({ name, help: meaning, labelNames: [...labels], registers: [registry] });
  const up = gaugeOf(METRIC_TABLE.up);
  const responseTime = gaugeOf(METRIC_TABLE.responseTime);
  const certificateDays = gaugeOf(METRIC_TABLE.certificateDays);
  const lastRun = gaugeOf(METRIC_TABLE.lastRun);
  const packetLoss = gaugeOf(METRIC_TABLE.packetLoss);

  let known: ReadonlyMap<string, GaugedCheck> = new Map();
  /** Ids of checks with a value: removing a missing one is not free, and most have none. */
  const withCertificate = new Set<string>();
  const withLoss = new Set<string>();
  return {
    setChecks(checks) {
      const next = new Map(checks.map((check) => [check.id, check]));
      for (const [id, check] of known) {
        if (hasSameLabels(next.get(id), check)) continue;
        const labels = labelsOf(check);
        for (const gauge of [up, responseTime, certificateDays, lastRun, packetLoss]) {
          gauge.remove(labels);
        }
        withCertificate.delete(id);
        withLoss.delete(id);
      }
      known = next;
    },
    judged(result) {
      const check = known.get(result.checkId);
      if (check === undefined) return;
      const labels = labelsOf(check);
      up.set(labels, result.hasFailures ? 0 : 1);
      responseTime.set(labels, result.responseTime / 1000);
      lastRun.set(labels, Date.parse(result.stoppedAt) / 1000);
      setOrRemove(certificateDays, withCertificate, labels, certificateDaysOf(result));
      setOrRemove(packetLoss, withLoss, labels, packetLossOf(result));
    },
  };
}

function labelsOf({ id, name, checkType }: GaugedCheck): CheckLabels {
  return { check_id: id, check_name: name, check_type: checkType };
}

function hasSameLabels(one: GaugedCheck | undefined, other: GaugedCheck): boolean {
  return one?.name === other.name && one.checkType === other.checkType;
}

/** undefined: unknown, the last value stays. null: there is no value any more. */
function setOrRemove(
  gauge: CheckGauge,
  having: Set<string>,
  labels: CheckLabels,
  value: number | null | undefined,
): void {
  if (value === undefined) return;
  if (value !== null) {
    gauge.set(labels, value);
    having.add(labels.check_id);
  } else if (having.delete(labels.check_id)) gauge.remove(labels);
}

/** While the target does not answer, the last expiry stays visible. */
function certificateDaysOf(result: CheckResult): number | null | undefined {
  const certificate = certificateOf(result);
  if (certificate !== null) return certificate.daysRemaining;
  const { apiCheckResult, tcpCheckResult, dnsCheckResult } = result;
  return (apiCheckResult ?? tcpCheckResult ?? dnsCheckResult)?.response === null ? undefined : null;
}

/** Where no request was sent (no address), there is no packet loss to report. */
function packetLossOf({ icmpCheckResult }: CheckResult): number | null {
  const percent = icmpCheckResult?.response?.packetLoss;
  return percent === undefined ? null : percent / 100;
}
