import { z } from 'zod';
import { RUNNABLE_CHECK_TYPES } from '../../model/enums.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { inParallel } from '../apply/write-steps.ts';
import type { ApiClient } from '../service-api/api-client.ts';
import { readAs } from '../service-api/read-responses.ts';
import { EXPIRED, GONE, type TriggeredRun, withoutResult, withResult } from './triggered-run.ts';

/** The checks to run: those with these ids, or the activated ones with one of these tags. */
export type CheckSelection =
  | { readonly ids: readonly string[] }
  | { readonly tags: readonly string[] };

const CONCURRENCY = 4;
const RUN_PATH = '/v1/check-runs/';

const bulkSchema = z.looseObject({
  results: z.array(
    z.looseObject({
      id: z.string().nullable(),
      location: z.string().optional(),
      error: z.looseObject({ message: z.string() }).optional(),
    }),
  ),
});

/**
 * Requests a run of each check.
 *
 * @param location the slug; null: each in its first location with a connected agent
 * @throws VedetteError of kind `usage` where no check has a tag; else as ApiClient.send
 */
export async function requestRuns(
  client: Pick<ApiClient, 'send'>,
  selection: CheckSelection,
  location: string | null,
  signal: AbortSignal,
): Promise<readonly TriggeredRun[]> {
  const which =
    'ids' in selection
      ? { ids: [...new Set(selection.ids)] }
      : { filter: { tag: selection.tags, activated: true, type: RUNNABLE_CHECK_TYPES } };
  const body = { action: 'run', ...which, location };
  const reply = await client.send('POST', '/v1/checks/bulk', { body, signal });
  if (!reply.ok) throw new VedetteError('usage', 'RUN_REFUSED', reply.reasons.join('; '));
  const { results } = readAs(bulkSchema, reply.json, 'response to requested runs');
  if (results.length === 0 && 'tags' in selection) {
    const tags = selection.tags.map((tag) => JSON.stringify(tag)).join(' or ');
    const message = `no activated check has the tag ${tags}; tags of groups do not count here`;
    throw new VedetteError('usage', 'UNKNOWN_TAG', message);
  }
  return results.map(({ id, location: path, error }) => {
    const runId = path?.startsWith(RUN_PATH) === true ? path.slice(RUN_PATH.length) : null;
    const run = { checkId: id ?? '', location, runId };
    return runId === null
      ? withoutResult(run, 'refused', error?.message ?? 'the service created no run')
      : withoutResult(run, 'queued');
  });
}

const runSchema = z.looseObject({
  location: z.string(),
  state: z.string(),
  resultId: z.string().nullable(),
});

/**
 * Reads the runs that have not ended yet, once.
 *
 * @param onEnded called with each run that has ended
 * @returns the runs that have not ended
 * @throws VedetteError as ApiClient.find
 */
export async function readOpenRuns(
  client: Pick<ApiClient, 'find'>,
  runs: readonly TriggeredRun[],
  onEnded: (run: TriggeredRun) => void,
  signal: AbortSignal,
): Promise<readonly TriggeredRun[]> {
  const open = new Set(runs);
  await inParallel([...runs], CONCURRENCY, async (run) => {
    const ended = await endOf(client, run, signal);
    if (ended === null) return;
    open.delete(run);
    onEnded(ended);
  });
  return [...open];
}

async function endOf(
  client: Pick<ApiClient, 'find'>,
  run: TriggeredRun,
  signal: AbortSignal,
): Promise<TriggeredRun | null> {
  const json = await client.find(`${RUN_PATH}${encodeURIComponent(run.runId ?? '')}`, signal);
  if (json === null) return withoutResult(run, 'expired', GONE);
  const { location, state, resultId } = readAs(runSchema, json, 'run');
  const placed = { ...run, location };
  // The result of a cancelled run may never come.
  if (state === 'cancelled') return withoutResult(placed, 'cancelled', 'it was cancelled');
  if (state === 'expired') return withoutResult(placed, 'expired', EXPIRED);
  return resultId === null ? null : withResult(client, placed, resultId, signal);
}
