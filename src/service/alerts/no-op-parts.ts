import type { Sql } from '../database/port.ts';
import type { IncidentTrigger } from '../incidents/incident-trigger.ts';
import type { Outbox } from './notice.ts';

/**
 * Whether a check with these tags, its own and its group's, is silenced or paused at the instant
 * (epoch milliseconds).
 */
export type Silence = (tags: readonly string[], instantMs: number) => boolean;

export interface Silences {
  /** What holds from the instant on. */
  from(tx: Sql, accountId: string, instantMs: number): Promise<Silence>;
}

/** Where nothing is ever silenced. */
export const neverSilent: Silences = { from: async () => () => false };
/** Where there are no incidents. */
export const noIncidents: IncidentTrigger = { opened: async () => {}, resolved: async () => {} };
/** Where there are no channels. */
export const noNotices: Outbox = { put: async () => {} };
