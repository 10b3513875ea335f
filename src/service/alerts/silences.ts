import { pauseOf, silenceOf } from '../../model/schedule/maintenance-window.ts';
import { compilePauses } from '../../model/schedule/pause.ts';
import { windowsNear } from '../maintenance-windows/exports.ts';
import type { Silences } from './no-op-parts.ts';

/**
 * The account's maintenance windows (src/service/README.md, "Maintenance windows"): a check that is
 * silenced by one gives no alerts, and neither does one that is paused, though somebody may ask for
 * a run of it meanwhile.
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
