import type { Segment } from './entry.ts';
import type { SpoolKind } from './spool.ts';

/**
 * The two logs, in the order in which records are dropped for lack of room. `spare` comes first:
 * losing an attempt or an artifact loses no run's outcome. Each log has files of its own: the
 * oldest records are dropped with their file, and nothing is ever copied. Artifacts themselves are
 * dropped before both.
 */
export const LOG_PRIORITIES = ['spare', 'main'] as const;
export type LogPriority = (typeof LOG_PRIORITIES)[number];

export const PRIORITY_OF_KIND: Readonly<Record<SpoolKind, LogPriority>> = {
  attempt: 'spare',
  'artifact-note': 'spare',
  result: 'main',
  missed: 'main',
};

/** The log whose oldest file is dropped next; null if there is none. */
export function nextToDrop(
  logs: Readonly<Record<LogPriority, { readonly oldest: Segment | null }>>,
): { readonly priority: LogPriority; readonly segment: Segment } | null {
  for (const priority of LOG_PRIORITIES) {
    const { oldest } = logs[priority];
    if (oldest !== null) return { priority, segment: oldest };
  }
  return null;
}
