import { resultIdOf, sequenceIdOf } from '../../../../../src/model/ids.ts';
import { FAILED } from '../../../../support/service/alerts-fixture.ts';
import { resultOfRun } from '../../../../support/service/results-fixture.ts';
import type { Scenario } from './cases.ts';
import type { CaseFixture, TestLocation } from './fixture.ts';
import { hookOf, noticesDone, noticesOf } from './scenarios-alerts.ts';
import { reporterOf, shopIn } from './scenarios-results.ts';

const CAPABILITIES = {
  types: ['URL', 'API', 'TCP', 'DNS', 'ICMP'],
  ipv6: true,
  icmp: true,
  capture: false,
  trials: true,
};
const POLLS = 20;

interface ToldRun {
  readonly runId: string;
  readonly checkId: string;
  readonly slot: number;
  readonly sequenceId: string;
  readonly retriesMade: number;
}

/** An agent's side of the protocol: saves its assignments, and polls again until it receives them. */
export class FaultAgent {
  readonly id: string;
  readonly #fixture: CaseFixture;
  readonly #location: TestLocation;
  /** The names by id. */
  readonly checks = new Map<string, string>();
  runs: readonly ToldRun[] = [];
  trials: readonly { readonly trialId: string }[] = [];
  /** The ids of the runs that it must end. */
  cancelled: readonly string[] = [];
  variables: readonly string[] = [];
  done: readonly string[] = [];
  concurrency = 100;
  #process = 1;
  #epoch = 0;
  #revision = 0;

  constructor(fixture: CaseFixture, location: TestLocation, id: string) {
    this.#fixture = fixture;
    this.#location = location;
    this.id = id;
  }

  async poll(): Promise<void> {
    const { status, json, text } = await this.#fixture.agentAsk(
      this.#location.key,
      '/agent/v1/poll',
      {
        agentId: this.id,
        instanceId: `${this.id}-${this.#process}`,
        version: '1.2.3',
        capabilities: CAPABILITIES,
        concurrency: this.concurrency,
        load: { running: 0, queued: 0 },
        revision: this.#revision,
        epoch: this.#epoch,
        done: this.done,
        refused: [],
      },
    );
    if (status !== 200) throw new Error(`${this.id}'s poll was answered ${status} ${text}`);
    if (json.full) this.checks.clear();
    for (const id of json.remove) this.checks.delete(id);
    for (const { checkId, check } of json.upsert) this.checks.set(checkId, check.name);
    if (json.location.variables !== null) {
      this.variables = json.location.variables.map(({ key }: { key: string }) => key);
    }
    this.#epoch = json.epoch;
    this.#revision = json.revision;
    this.runs = json.runs;
    this.trials = json.trials;
    this.cancelled = json.cancelledRuns;
  }

  /** Polls until it has received that. */
  pollUntil(what: string, hasReceived: () => boolean): Promise<void> {
    return this.#fixture.step(async () => {
      for (let polls = 0; polls < POLLS; polls += 1) {
        if (hasReceived()) return;
        await this.poll();
      }
      if (!hasReceived()) throw new Error(`${this.id} never received that ${what}`);
    });
  }

  /** Killed before its checks were on disk: its next process knows its id alone. */
  restart(): void {
    this.#process += 1;
    this.#epoch = 0;
    this.#revision = 0;
    this.checks.clear();
  }

  async release(): Promise<void> {
    const body = { agentId: this.id, epoch: this.#epoch, done: this.done };
    const { status, text } = await this.#fixture.agentAsk(
      this.#location.key,
      '/agent/v1/release',
      body,
    );
    if (status !== 200) throw new Error(`the release was answered ${status} ${text}`);
    this.checks.clear();
  }

  /** Offers a retry to another location. */
  async handOver(
    minute: number,
    { origin = this.#location.slug, retriesMade = 1 } = {},
  ): Promise<string | null> {
    const { startMs } = this.#fixture;
    const slot = startMs + minute * 60_000;
    const { status, json, text } = await this.#fixture.agentAsk(
      this.#location.key,
      '/agent/v1/handovers',
      {
        agentId: this.id,
        epoch: this.#epoch,
        checkId: 'shop',
        slot,
        sequenceId: sequenceIdOf('shop', origin, slot),
        retriesMade,
        firstStartedAt: slot,
        notBefore: slot,
      },
    );
    if (status !== 200) throw new Error(`the handover was answered ${status} ${text}`);
    return json.location;
  }

  /** Reports that it could not make its trials. */
  async missTrials(): Promise<void> {
    for (const { trialId } of this.trials) {
      const report = { agentId: this.id, epoch: this.#epoch, trialId, result: null };
      const { status, text } = await this.#fixture.agentAsk(
        this.#location.key,
        '/agent/v1/trials',
        { ...report, missed: 'agent_offline', problem: null },
      );
      if (status !== 200) throw new Error(`the report was answered ${status} ${text}`);
    }
  }

  /** Runs all one-off runs that it received. */
  async makeRuns(origin: string): Promise<void> {
    const results = this.runs.map(({ checkId, slot, sequenceId, retriesMade: attempts }) => ({
      ...resultOfRun({ checkId, slot, attempts, origin, runLocation: this.#location.slug }),
      sequenceId,
      id: resultIdOf(sequenceId, attempts + 1),
    }));
    const { accepted } = await reporterOf(this.#fixture, this.#location).send(results);
    if (accepted !== results.length) throw new Error('a result of a run was not accepted');
    this.done = this.runs.map(({ runId }) => runId);
  }
}

/** Ends its lease, as after a long silence. */
async function silence(fixture: CaseFixture, agentId: string): Promise<void> {
  await fixture.rows(
    `update agents set lease_until = now() - interval '1 second'
     where account_id = $1 and id = '${agentId}' and lease_until is not null`,
  );
}

const IDS = ['a', 'b', 'c', 'd', 'e', 'f'] as const;

export const agentsScenario: Scenario = {
  name: 'agents join, share checks, receive changes, and leave',
  async prepare(fixture) {
    const berlin = await fixture.location('berlin');
    const put = (id: string, name: string) =>
      fixture.done(200, 'PUT', `/v1/checks/tcp/${id}`, {
        name,
        request: { hostname: 'shop.test', port: 22 },
        privateLocations: ['berlin'],
      });
    for (const id of IDS) await put(id, id);
    const [one, two, three] = ['one', 'two', 'three'].map(
      (id) => new FaultAgent(fixture, berlin, id),
    ) as [FaultAgent, FaultAgent, FaultAgent];
    const share = (...agents: readonly FaultAgent[]) =>
      agents.flatMap(({ checks }) => [...checks.keys()]).sort();
    const isShared = (ids: readonly string[], ...agents: readonly FaultAgent[]) =>
      share(...agents).join() === ids.join();
    return async () => {
      await one.pollUntil('it has all checks', () => isShared(IDS, one));
      one.restart();
      await one.pollUntil('its next process has them, too', () => isShared(IDS, one));
      await two.pollUntil('it has some checks', () => two.checks.size > 0);
      await one.pollUntil('the other one has some', () => isShared(IDS, one, two));
      one.concurrency = 101;
      await one.poll();
      await put('a', 'another');
      const owner = one.checks.has('a') ? one : two;
      await owner.pollUntil('a check has another name', () => owner.checks.get('a') === 'another');
      await fixture.done(200, 'PATCH', '/v1/checks/tcp/a', { activated: false });
      await owner.pollUntil('a check is no more', () => !owner.checks.has('a'));
      const left = IDS.filter((id) => id !== 'a');
      await two.release();
      await one.pollUntil('it has all that is left', () => isShared(left, one));
      const report = {
        agentId: one.id,
        version: '1.2.3',
        node: '22.0.0',
        platform: 'linux',
        arch: 'x64',
        reports: [
          {
            class: 'TypeError',
            code: null,
            stack: [],
            count: 1,
            firstAt: fixture.startMs,
            lastAt: fixture.startMs,
          },
        ],
      };
      const errors = await fixture.agentAsk(berlin.key, '/agent/v1/errors', report);
      if (errors.status !== 200) throw new Error(`the errors were answered ${errors.text}`);
      await silence(fixture, one.id);
      await three.pollUntil('it has all of the one that is gone', () => isShared(left, three));
      await one.pollUntil('it has some again', () => one.checks.size > 0 && one.checks.size < 5);
      await three.pollUntil('the first is back', () => isShared(left, one, three));
      const all = `/v1/private-locations/${berlin.id}/agents`;
      await fixture.done(204, 'DELETE', `${all}/${one.id}`);
      await fixture.done(204, 'POST', `${all}/${one.id}/allow`);
      const agents = await fixture.done(200, 'GET', all);
      await fixture.done(200, 'GET', `/v1/private-locations/${berlin.id}/agent-errors`);
      return {
        seen: [`${agents.length} agents`, `shared ${share(one, three).join()}`],
        // Reports of an agent's errors have no known id.
        mayDiffer: (row) => row.startsWith('too many: agent_errors'),
      };
    };
  },
};

export const trialsScenario: Scenario = {
  name: 'checks are tried before they are saved, and the trials end or expire',
  async prepare(fixture) {
    const berlin = await fixture.location('berlin');
    const one = new FaultAgent(fixture, berlin, 'one');
    await one.poll();
    const check = {
      checkType: 'TCP',
      name: 'shop',
      privateLocations: ['berlin'],
      request: { hostname: 'shop.test', port: 22 },
    };
    const stateOf = async (id: string): Promise<string> =>
      (await fixture.done(200, 'GET', `/v1/check-trials/${id}?waitSeconds=1`)).state;
    return async () => {
      // A client without an answer tries again.
      const trial = await fixture.done(201, 'POST', '/v1/check-trials', {
        location: 'berlin',
        check,
      });
      await one.pollUntil('a trial is wanted', () =>
        one.trials.some(({ trialId }) => trialId === trial.id),
      );
      await one.missTrials();
      const missed = await stateOf(trial.id);

      const lost = await fixture.done(201, 'POST', '/v1/check-trials', {
        location: 'berlin',
        check,
      });
      await silence(fixture, one.id);
      await fixture.rows(
        `update check_trials set not_after = now() - interval '1 hour' where account_id = $1`,
      );
      await fixture.passUntil('it expires, and its agent is gone', async () => {
        const open = await fixture.rows(
          `select 1 from check_trials where account_id = $1 and state in ('waiting', 'running')
           union all select 1 from agents where account_id = $1 and lease_until is not null`,
        );
        return open.length === 0;
      });
      return {
        seen: [missed, await stateOf(lost.id)],
        slotsVary: true,
        mayDiffer: (row) => row.includes('check_trials'),
      };
    };
  },
};

export const runsScenario: Scenario = {
  name: 'runs are asked for, made, cancelled, handed over, given back and given up',
  async prepare(fixture) {
    const berlin = await fixture.location('berlin');
    const oslo = await fixture.location('oslo');
    await shopIn(fixture, {
      privateLocations: ['berlin', 'oslo'],
      retryStrategy: { type: 'FIXED', baseBackoffSeconds: 10, maxRetries: 2, sameRegion: false },
    });
    const one = new FaultAgent(fixture, berlin, 'one');
    const other = new FaultAgent(fixture, oslo, 'other');
    for (const agent of [one, other]) {
      await agent.pollUntil('it has the check', () => agent.checks.has('shop'));
    }
    /** Makes waiting runs overdue. */
    const overdue = () =>
      fixture.rows(
        `update one_off_runs set not_after = now() - interval '1 hour'
         where account_id = $1 and state in ('waiting', 'assigned')`,
      );
    return async () => {
      // A client without an answer requests another run.
      const run = await fixture.done(201, 'POST', '/v1/checks/shop/run');
      await one.pollUntil('a run is wanted', () => one.runs.some(({ runId }) => runId === run.id));
      await one.makeRuns('berlin');
      await one.poll();
      const made = await fixture.done(200, 'GET', `/v1/check-runs/${run.id}`);

      // An agent that has begun a run when it is cancelled.
      const unwanted = await fixture.done(201, 'POST', '/v1/checks/shop/run');
      const isIt = ({ runId }: { readonly runId: string }) => runId === unwanted.id;
      await one.pollUntil('another run is wanted', () => one.runs.some(isIt));
      const begun = one.runs;
      await fixture.done(204, 'DELETE', `/v1/check-runs/${unwanted.id}`);
      await one.pollUntil('it is cancelled', () => one.cancelled.includes(unwanted.id));
      one.runs = begun;
      await one.makeRuns('berlin');
      await one.poll();
      const cancelled = await fixture.done(200, 'GET', `/v1/check-runs/${unwanted.id}`);

      const { deliver, result } = reporterOf(fixture, berlin);
      await deliver([result(-5, { ...FAILED, resultType: 'ATTEMPT' })]);
      const taken = await one.handOver(-5);
      const again = await one.handOver(-5);
      await other.pollUntil('a retry is wanted', () => other.runs.length > 0);
      // It fails there as well, and returns.
      const back = await other.handOver(-5, { origin: 'berlin', retriesMade: 2 });
      other.done = other.runs.map(({ runId }) => runId);
      await other.poll();
      await one.pollUntil('the last try is wanted', () => one.runs.length > 0);
      await one.makeRuns('berlin');
      await one.poll();

      await one.handOver(-3);
      await other.pollUntil('another one is', () => other.runs.length > 0);
      await overdue();
      await fixture.passUntil('it is given back', async () => {
        const rows = await fixture.rows(
          `select from one_off_runs r join private_locations l on l.id = r.location_id
           where r.account_id = $1 and l.slug = 'berlin' and r.reason = 'retry'`,
        );
        return rows.length > 0;
      });
      await one.pollUntil('it is back', () => one.runs.length > 0);
      await overdue();
      await fixture.passUntil('it is given up', async () => {
        const rows = await fixture.rows(
          `select from one_off_runs where account_id = $1 and state = 'expired'`,
        );
        return rows.length > 0;
      });
      return {
        seen: [`${made.state}`, `${cancelled.state}`, `${taken}`, `${again}`, `${back}`],
        slotsVary: true,
        mayDiffer: (row) =>
          row.startsWith('too many:') && /one_off_runs.*requested|check_results|metrics/.test(row),
      };
    };
  },
};

/**
 * As if none of its agents had polled for minutes. By both clocks: on a busy machine the service's may
 * be minutes behind the database's.
 */
async function killAgents(fixture: CaseFixture): Promise<void> {
  const now = `least(now(), timestamptz '${new Date(fixture.service.clock.wallMs()).toISOString()}')`;
  await fixture.rows(
    `update agents set lease_until = null, last_seen_at = ${now} - interval '3 minutes'
     where account_id = $1
       and (lease_until is not null or last_seen_at > ${now} - interval '2 minutes')`,
  );
}

export const silenceScenario: Scenario = {
  name: 'a location becomes silent, its slots are missed, and an agent returns',
  async prepare(fixture) {
    const berlin = await fixture.location('berlin');
    await hookOf(fixture);
    await shopIn(fixture, { privateLocations: ['berlin'], frequency: 1 });
    const agent = new FaultAgent(fixture, berlin, 'one');
    const path = `/v1/private-locations/${berlin.id}`;
    const isSilent = async () => (await fixture.rows(SILENT)).length > 0;
    return async () => {
      await agent.pollUntil('it has the check', () => agent.checks.has('shop'));
      await fixture.passUntil('the location is silent', async () => {
        // Also again: a stalled poll, which the agent has repeated, gives it a lease when it continues.
        await killAgents(fixture);
        return await isSilent();
      });
      await fixture.passUntil('slots are missed', async () => {
        const missed = 'select from missed_slots where account_id = $1';
        return (await fixture.rows(missed)).length > 0;
      });
      await noticesDone(fixture, 1);
      const silent = await fixture.done(200, 'GET', path);
      await agent.poll();
      await fixture.passUntil('it is no longer silent', async () => {
        // The clock of the service is ahead of the database's, which sets the lease: also again, when a
        // stalled poll continues.
        await fixture.rows(
          `update agents set lease_until = now() + interval '1 day' where account_id = $1`,
        );
        return !(await isSilent());
      });
      await noticesDone(fixture, 2);
      const { silentSince } = await fixture.done(200, 'GET', path);
      return {
        seen: [...noticesOf(fixture), `${silent.silentSince !== null}`, `${silentSince}`],
        slotsVary: true,
        // How many slots are missed depends on when the location was found to be silent.
        mayDiffer: (row) => row.includes('missed_slots'),
      };
    };
  },
};

const SILENT = 'select from silent_locations where account_id = $1';
