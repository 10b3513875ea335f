import { pauseOf, silenceOf } from '../../model/schedule/maintenance-window.ts';
import { compilePauses } from '../../model/schedule/pause.ts';
import type { Sql } from '../database/store.ts';
import { windowsNear } from '../maintenance-windows/shared.sql.ts';

/**
 * Whether a check with these tags, its own and its group's, is silenced or paused at the instant
 * (epoch milliseconds).
 */
export type Silence = (tags: readonly string[], instantMs: number) => boolean;

export interface Silences {
  /** Valid from the instant on. */
  from(tx: Sql, accountId: string, instantMs: number): Promise<Silence>;
}

/**
 * The maintenance windows of the account: src/service/README.md, "Maintenance windows". Also
 * silences paused checks, since people may run them during the pause.
 */
export const maintenanceSilences: Silences = {
  async from(tx, accountId, instantMs) {
    const windows = await windowsNear(tx, { accountId, atMs: instantMs });
    if (windows.length === 0) return () => false;
    const compiled = compilePauses(
      windows
        .flatMap((window) => [pauseOf(window), silenceOf(window)])
        .filter((each) => each !== null),
    );
    return (tags, atMs) => compiled.timesFor(tags).isPausedAt(atMs);
  },
};
