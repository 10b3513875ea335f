import type { CheckResult } from '../../../src/model/result/result.ts';
import { httpDetail, wireResult } from '../samples/wire-results.ts';
import type { TestLocation } from '../service/check-runs-fixture.ts';
import { PollingAgent, type PollingAgentFields } from '../service/polling-agent.ts';
import type { Reply } from '../service/service-app.ts';
import type { RunningService } from '../service/service-fixture.ts';

/** The capability that agents of this release report. */
const TRIAL = { trials: true } as const;

/** The body of a check that is not saved. */
export const UNSAVED = {
  checkType: 'API',
  name: 'Shop',
  privateLocations: ['cellar'],
  request: { url: 'http://shop.test/health', method: 'GET' },
};

/** A trial as its agent gets it. */
export interface GivenTrial {
  readonly trialId: string;
  // biome-ignore lint/suspicious/noExplicitAny: the body of any check
  readonly check: any;
  readonly slot: number;
}

/** An agent's side of trials. Its polls are not held, its reports go over HTTP. */
export class TrialAgent {
  readonly #service: Pick<RunningService, 'features' | 'app'>;
  readonly #location: Omit<TestLocation, 'slug'>;
  readonly #polling: PollingAgent;
  /** The epoch that its reports name. */
  epoch = 0;

  constructor(
    service: Pick<RunningService, 'features' | 'app'>,
    accountId: string,
    location: Omit<TestLocation, 'slug'>,
    id: string,
  ) {
    const caller = { accountId, locationId: location.id, keyId: 'key' };
    this.#service = service;
    this.#location = location;
    this.#polling = new PollingAgent(service.features.agents, caller, id);
  }

  /** The trials that it has. */
  async poll(
    capabilities: PollingAgentFields['capabilities'] = TRIAL,
  ): Promise<readonly GivenTrial[]> {
    this.#polling.become({ capabilities });
    const { trials } = await this.#polling.look();
    this.epoch = this.#polling.epoch;
    return trials;
  }

  report(trialId: string, end: object): Promise<Reply> {
    const { id: agentId } = this.#polling;
    const { epoch } = this;
    const body = { agentId, epoch, trialId, result: null, missed: null, problem: null, ...end };
    return this.#service.app.ask('/agent/v1/trials', {
      key: this.#location.key,
      method: 'POST',
      headers: { 'x-agent-protocol': '1' },
      body,
    });
  }
}

/** The result of a trial as its agent sends it: an API check that failed with status 500. */
export function trialResult(
  { trialId, slot }: GivenTrial,
  fields: Partial<CheckResult> = {},
): CheckResult {
  const detail = httpDetail({ body: 'broken' });
  return wireResult(trialId, {
    checkId: trialId,
    name: 'Shop',
    checkType: 'API',
    checkRunId: slot,
    runLocation: 'cellar',
    hasFailures: true,
    apiCheckResult: detail,
    ...fields,
  });
}
