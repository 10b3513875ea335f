import { z } from 'zod';
import { RUN_RESULTS } from '../../model/result/run-result.ts';
import type { ApiClient } from '../service-api/api-client.ts';
import { getOfCheck, readAs } from '../service-api/read-responses.ts';

const checkSchema = z.object({ id: z.string(), name: z.string(), checkType: z.string() });
export type HistoryCheck = z.output<typeof checkSchema>;

const runSchema = z.looseObject({
  slot: z.string(),
  number: z.int(),
  location: z.string(),
  result: z.enum(RUN_RESULTS),
  responseTime: z.number(),
  errorCode: z.string().nullable(),
  response: z.string().nullable(),
  reason: z.string().nullable(),
});
/** A run, as the API has it (src/service/README.md, "Check results"). */
export type ListedRun = z.output<typeof runSchema>;

const pingSchema = z.looseObject({
  state: z.string(),
  timestamp: z.string(),
  source: z.string(),
  pings: z.int(),
});
/** An event of a heartbeat, as the API has it (src/service/README.md, "Heartbeats"). */
export type ListedPing = z.output<typeof pingSchema>;

/** The runs of a check, or the pings of a heartbeat. Newest first. */
export type History =
  | { readonly kind: 'runs'; readonly check: HistoryCheck; readonly entries: readonly ListedRun[] }
  | {
      readonly kind: 'pings';
      readonly check: HistoryCheck;
      readonly entries: readonly ListedPing[];
    };

/** Without a window, the API lists the last 6 hours only. */
const ANY_TIME = `from=0&to=${Date.UTC(9999, 0, 1)}`;

/**
 * Reads the last runs of a check.
 *
 * @param limit 1 to 100
 * @throws VedetteError of kind `usage` where there is no such check; else as ApiClient.get
 */
export async function readHistory(
  client: Pick<ApiClient, 'send'>,
  checkId: string,
  limit: number,
  signal: AbortSignal,
): Promise<History> {
  const read = (pathOf: (id: string) => string): Promise<unknown> =>
    getOfCheck(client, checkId, pathOf, signal);
  const check = readAs(checkSchema, await read((id) => `/v1/checks/${id}`), 'check');
  if (check.checkType === 'HEARTBEAT') {
    const events = await read((id) => `/v1/checks/heartbeats/${id}/events?limit=${limit}`);
    return { kind: 'pings', check, entries: readAs(z.array(pingSchema), events, 'list of events') };
  }
  const runs = await read((id) => `/v1/checks/${id}/runs?${ANY_TIME}&limit=${limit}`);
  return { kind: 'runs', check, entries: readAs(z.array(runSchema), runs, 'list of runs') };
}
