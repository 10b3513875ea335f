import { loadSequentially } from '../../runtime/load-sequentially.ts';
import { isInTime } from '../../runtime/wait.ts';
import type { ErrorReports, ErrorReportsOptions } from './error-reports-port.ts';

/** Reports nothing: there is no service, or no connection to it yet. */
export const NO_REPORTS: ErrorReports = {
  note: () => {},
  recordCrash: () => {},
  run: async () => {},
  flush: async () => {},
};

/** EXTERNAL_OBSERVABILITY=off: removes the crashes of earlier processes and reports nothing. */
export function discardReports({
  dataDir,
  log,
}: Pick<ErrorReportsOptions, 'dataDir' | 'log'>): ErrorReports {
  if (dataDir === null) return NO_REPORTS;
  return {
    ...NO_REPORTS,
    async run(_parts, signal) {
      loadSequentially(import.meta.url, './crash-file.js');
      const { removeCrashReports } = await import('./crash-file.ts');
      await isInTime(removeCrashReports({ dataDir, log }), signal);
    },
  };
}
