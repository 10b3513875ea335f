import { duration } from '../../parts/formats.ts';
import { type MarkedState, StateMark } from '../../parts/states/state-mark.tsx';
import { nowMs, TimeText } from '../../parts/time-text.tsx';
import type { HeartbeatStatus } from './queries.ts';

const WORDS: Readonly<Record<MarkedState, string>> = {
  failing: 'Late',
  degraded: 'Overdue',
  passing: 'In time',
  unknown: 'No ping yet',
  paused: 'Paused',
};

/** The end of the period, epoch milliseconds; null while no ping is due. */
export function expectedMs({ heartbeat }: HeartbeatStatus): number | null {
  if (heartbeat === null || heartbeat.failsAt === null) return null;
  return Date.parse(heartbeat.failsAt) - heartbeat.graceSeconds * 1_000;
}

/** A heartbeat still passes after its period and within the grace time, but is shown as degraded. */
export function markOf(status: HeartbeatStatus): MarkedState {
  const dueMs = expectedMs(status);
  const isOverdue = dueMs !== null && dueMs <= nowMs.value;
  return status.state === 'passing' && isOverdue ? 'degraded' : status.state;
}

export function HeartbeatMark({ status }: { readonly status: HeartbeatStatus }) {
  const mark = markOf(status);
  return <StateMark state={mark} word={WORDS[mark]} />;
}

/** The next event, in words. */
export function NextText({ status }: { readonly status: HeartbeatStatus }) {
  const failsAt = status.heartbeat?.failsAt ?? null;
  const dueMs = expectedMs(status);
  if (status.state === 'failing') return <span class="nowrap">waits for a ping</span>;
  if (dueMs === null || failsAt === null) return <span class="faint">–</span>;
  if (dueMs > nowMs.value) {
    return (
      <span class="nowrap">
        ping <TimeText at={dueMs} />
      </span>
    );
  }
  return (
    <span class="degraded nowrap">
      alerts <TimeText at={failsAt} />
    </span>
  );
}

/** `every 1 h, 5 min of grace` */
export function rhythmText({
  periodSeconds,
  graceSeconds,
}: NonNullable<HeartbeatStatus['heartbeat']>): string {
  return `every ${duration(periodSeconds * 1_000)}, ${duration(graceSeconds * 1_000)} of grace`;
}
