import { responseTime } from '../../parts/formats.ts';
import type { Threshold } from './chart.tsx';
import type { Check, MissedSlot } from './model.ts';

/** The marks of the charts of response times: thresholds, and slots that were not run. */

const MINUTE_MS = 60_000;

export function thresholdsOf(check: Check): readonly Threshold[] {
  if (check.checkType === 'ICMP') return [];
  return pair(check.degradedResponseTime, check.maxResponseTime, (value) => responseTime(value));
}

export function lossThresholdsOf(check: Check): readonly Threshold[] {
  if (check.checkType !== 'ICMP') return [];
  return pair(
    check.degradedPacketLossThreshold,
    check.maxPacketLossThreshold,
    (value) => `${value} %`,
  );
}

function pair(
  degraded: number | null,
  max: number | null,
  text: (value: number) => string,
): readonly Threshold[] {
  return [
    ...(degraded === null
      ? []
      : [{ label: `degraded over ${text(degraded)}`, value: degraded, colour: '--slow' }]),
    ...(max === null ? [] : [{ label: `failed over ${text(max)}`, value: max, colour: '--fail' }]),
  ];
}

/** From the first slot to the end of the last slot's period. */
export function spanOf(
  { slot, lastSlot, count }: MissedSlot,
  check: Check,
): { fromMs: number; toMs: number } {
  const [fromMs, lastMs] = [Date.parse(slot), Date.parse(lastSlot)];
  const periodMs =
    count > 1
      ? (lastMs - fromMs) / (count - 1)
      : check.frequency === 0
        ? (check.frequencyOffset ?? 10) * 1_000
        : check.frequency * MINUTE_MS;
  return { fromMs, toMs: lastMs + periodMs };
}

/** In words, each once. */
export function reasonsOf(missed: readonly MissedSlot[]): string {
  return [...new Set(missed.map(({ reason }) => reason.replaceAll('_', ' ')))].join(', ');
}
