import type { Measure } from '../../model/result/analytics.ts';
import type { ReceivedResult } from '../../wire/v1/check-result.ts';
import type { FinalsHandler } from '../results/finals-handler.ts';
import { insertRunMetrics, type RunMetrics } from './run-metrics.sql.ts';

/**
 * Saves the metrics of runs. Omits cancelled runs and faults of the agent, which say nothing about the
 * target.
 */
export const saveRunMetrics: FinalsHandler = async (tx, { accountId, finals }) => {
  const judged = finals.filter(({ isCancelled, hasErrors }) => !isCancelled && !hasErrors);
  if (judged.length > 0) await insertRunMetrics(tx, { accountId, runs: judged.map(metricsOf) });
};

function metricsOf(final: ReceivedResult): RunMetrics {
  return {
    checkId: final.checkId,
    slotMs: final.checkRunId,
    sequenceId: final.sequenceId,
    runLocation: final.runLocation,
    passed: !final.hasFailures,
    degraded: final.isDegraded && !final.hasFailures,
    statusCode: final.apiCheckResult?.response?.status ?? null,
    retries: final.attempts,
    measures: measuresOf(final),
  };
}

function measuresOf(final: ReceivedResult): Partial<Record<Measure, number | null>> {
  const { responseTime, apiCheckResult: http, tcpCheckResult: tcp, icmpCheckResult: icmp } = final;
  if (final.checkType === 'ICMP') {
    const { packetLoss = null, latency } = icmp?.response ?? {};
    return {
      packetLoss,
      latencyMin: latency?.min ?? null,
      latencyMax: latency?.max ?? null,
      latencyAvg: latency?.avg ?? null,
      latencyStdDev: latency?.stdDev ?? null,
    };
  }
  const { dns, connection, data } = tcp?.timingPhases ?? {};
  if (tcp !== null)
    return { responseTime, dns: dns ?? null, connection: connection ?? null, data: data ?? null };
  const phases = http?.response?.timingPhases ?? http?.timingPhases;
  if (phases === undefined) return { responseTime };
  const { wait, tcp: connect, firstByte, download } = phases;
  return { responseTime, wait, dns: phases.dns, tcp: connect, firstByte, download };
}
