import type { Scenario } from './cases.ts';
import { FaultAgent } from './scenarios-agents.ts';

export const groupRunsScenario: Scenario = {
  name: 'the checks of a group are run, one after the other, or cancelled',
  async prepare(fixture) {
    const berlin = await fixture.location('berlin');
    const one = new FaultAgent(fixture, berlin, 'one');
    const group = await fixture.done(201, 'POST', '/v1/check-groups', { name: 'Shop' });
    for (const [groupOrder, id] of ['shop', 'cart'].entries()) {
      await fixture.done(200, 'PUT', `/v1/checks/url/${id}`, {
        name: id,
        groupId: group.id,
        groupOrder,
        privateLocations: ['berlin'],
        request: { url: `https://${id}.test/` },
      });
    }
    await one.pollUntil('it has the checks', () => one.checks.size === 2);
    return async () => {
      // A client without an answer requests another run.
      const { id } = await fixture.done(201, 'POST', `/v1/check-groups/${group.id}/run`);
      for (const checkId of ['shop', 'cart']) {
        await fixture.passUntil(`the run of ${checkId} is requested`, async () => {
          const runs = await fixture.rows(
            `select from check_group_run_checks
             where account_id = $1 and group_run_id = '${id}' and check_id = '${checkId}'
               and state = 'started'`,
          );
          return runs.length > 0;
        });
        await one.pollUntil('it is wanted', () => one.runs.some((run) => run.checkId === checkId));
        await one.makeRuns('berlin');
        await one.poll();
      }
      await fixture.passUntil('the group run has ended', async () => {
        // Its results may be those of the other run's checks.
        await one.poll();
        await one.makeRuns('berlin');
        const open = await fixture.rows(
          `select from check_group_runs
           where account_id = $1 and id = '${id}' and state = 'running'`,
        );
        return open.length === 0;
      });
      const ended = await fixture.done(200, 'GET', `/v1/check-group-runs/${id}`);
      const next = await fixture.done(201, 'POST', `/v1/check-groups/${group.id}/run`);
      await fixture.done(204, 'DELETE', `/v1/check-group-runs/${next.id}`);
      const cancelled = await fixture.done(200, 'GET', `/v1/check-group-runs/${next.id}`);
      return {
        seen: [ended.state, ended.verdict, cancelled.state],
        slotsVary: true,
        mayDiffer: (row) =>
          row.startsWith('too many:') &&
          /one_off_runs|check_group_run|check_results|metrics/.test(row),
      };
    };
  },
};
