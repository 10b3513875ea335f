import { resultIdOf, sequenceIdOf } from '../../../src/model/ids.ts';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { giveEverySlot } from '../../support/agent/assigned-slots.ts';
import { HTTP_DETAIL, HTTP_RESPONSE, resultOf } from '../../support/samples/http-results.ts';
import { PollingAgent } from '../../support/service/polling-agent.ts';
import type { DashboardAccount, DashboardService } from './dashboard-service.ts';

const QUARTER_MS = 900_000;
const CELLS = 96;
/** A batch of an agent may have as many. */
const BATCH = 500;

export interface SampleCheck {
  readonly id: string;
  readonly name: string;
  /** Default: nothing more than a URL check needs. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /**
   * Its last quarters of an hour, the current one last: p passed, d degraded, f failed, n nothing. Shorter texts
   * begin later. Default: all passed.
   */
  readonly cells?: string;
  readonly responseTimeMs?: number;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    /** Default: as long as a run that passes. */
    readonly afterMs?: number;
  };
}

/** A private location with an agent that is connected. */
export interface SampleLocation {
  readonly id: string;
  readonly slug: string;
  readonly key: string;
}

/** A location whose agent polls until the service ends. */
export async function addSampleLocation(
  account: DashboardAccount,
  { features, stopping }: DashboardService,
  slug: string,
): Promise<SampleLocation> {
  const { accountId } = account;
  const { id } = await features.privateLocations.create(accountId, { slug, name: slug });
  const { key } = await features.locationKeys.create(accountId, id);
  const agent = new PollingAgent(
    features.agents,
    { accountId, locationId: id, keyId: 'sample' },
    `${slug}-agent`,
  );
  await agent.look();
  const polling = async (): Promise<void> => {
    while (!stopping.aborted) await agent.poll(stopping);
  };
  // A poll that the end of the service cuts off is no failure.
  void polling().catch(() => {});
  return { id, slug, key };
}

/** Checks with a day of results, as an agent of the location sends them. */
export async function addSampleChecks(
  account: DashboardAccount,
  service: DashboardService,
  location: SampleLocation,
  checks: readonly SampleCheck[],
): Promise<void> {
  const { accountId } = account;
  const { features, store } = service;
  for (const { id, name, fields = {} } of checks) {
    const body = {
      checkType: 'URL',
      name,
      frequency: 15,
      request: { url: 'https://shop.example.com/' },
      privateLocations: [location.slug],
      ...fields,
    };
    await features.checks.put({ accountId, id }, body as never, { autoAssignAlerts: true });
    await giveEverySlot(store, { accountId, checkId: id, slugs: [location.slug] });
  }
  const results = checks.flatMap((check) => resultsOf(check, location));
  for (let from = 0; from < results.length; from += BATCH) {
    await sendResults(service, location, results.slice(from, from + BATCH));
  }
}

/** Sends results as an agent does. @throws Error unless all are accepted */
export async function sendResults(
  { app }: DashboardService,
  location: SampleLocation,
  results: readonly CheckResult[],
): Promise<void> {
  const reply = await app.ask('/agent/v1/results', {
    key: location.key,
    method: 'POST',
    headers: { 'x-agent-protocol': '1', 'content-type': 'application/json' },
    body: { agentId: 'sample', epoch: 1, results, missed: [] },
  });
  if (reply.status !== 200 || reply.json.accepted.length !== results.length) {
    throw new Error(`not all was accepted: ${reply.status} ${reply.text.slice(0, 1_000)}`);
  }
}

function resultsOf(check: SampleCheck, location: SampleLocation): readonly CheckResult[] {
  const { cells = 'p'.repeat(CELLS) } = check;
  const last = Math.floor(Date.now() / QUARTER_MS) * QUARTER_MS;
  return [...cells].flatMap((letter, cell) => {
    if (letter === 'n') return [];
    const slot = last - (cells.length - 1 - cell) * QUARTER_MS;
    return [sampleResult(check, location, slot, letter)];
  });
}

/** The result of a slot; the letters are those of SampleCheck. */
export function sampleResult(
  { id, name, responseTimeMs = 184, error }: SampleCheck,
  { slug }: SampleLocation,
  slot: number,
  letter: string,
): CheckResult {
  const isFailed = letter === 'f';
  const usual = responseTimeMs * (letter === 'd' ? 6 : 1 + ((slot / QUARTER_MS) % 7) / 40);
  const took = Math.round(isFailed ? (error?.afterMs ?? usual) : usual);
  const sequenceId = sequenceIdOf(id, slug, slot);
  const at = (ms: number) => new Date(slot + ms).toISOString();
  return resultOf({
    name,
    checkId: id,
    runLocation: slug,
    checkRunId: slot,
    sequenceId,
    id: resultIdOf(sequenceId, 1),
    attempts: 0,
    startedAt: at(2),
    stoppedAt: at(2 + took),
    created_at: at(2 + took),
    responseTime: took,
    hasFailures: isFailed,
    isDegraded: letter === 'd',
    apiCheckResult: {
      ...HTTP_DETAIL,
      response: isFailed ? null : HTTP_RESPONSE,
      requestError: isFailed ? (error?.message ?? 'connection refused') : null,
      requestErrorCode: isFailed ? (error?.code ?? 'CONNECT_REFUSED') : null,
    },
  } as Partial<CheckResult>);
}
