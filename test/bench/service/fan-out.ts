import { type Driver, startDriver } from '../driver.ts';
import type { Measured, PartContext } from '../part.ts';
import { median } from '../row.ts';
import type { BenchDatabase } from './bench-database.ts';
import { createResources } from './create-resources.ts';
import { startService } from './service-process.ts';

interface Known {
  readonly concerned: number;
  readonly knownMs: number;
}

const LIMIT = { of: 'value', bound: 'at most', number: 1 } as const;
/** Checks that are changed one after the other in a round; the slowest counts. */
const CHANGES_PER_ROUND = 10;

/**
 * How long it takes from the request for a change until the last of the agents that it concerns has
 * it, while all agents of the location hold their polls.
 */
export async function measureFanOut(
  database: BenchDatabase,
  agents: number,
  { rounds, progress, signal }: PartContext,
): Promise<readonly Measured[]> {
  progress(`poll fan-out to ${agents} agents on ${database.name}`);
  const checks = agents * 5;
  const { apiKey, locationKey } = await createResources(database, checks);
  const service = await startService(database);
  try {
    const { origin } = service;
    const driver = await startDriver('poll-agents', { origin, locationKey, apiKey }, signal);
    try {
      await driver.ask({ join: agents });
      await driver.ask({ settled: checks });
      const toAll: number[] = [];
      const toOne: number[] = [];
      await setVariable(driver, 'POST', 0);
      for (let round = 1; round <= rounds; round += 1) {
        const { concerned, knownMs } = await setVariable(driver, 'PUT', round);
        if (concerned !== agents) throw new Error(`${concerned} of ${agents} agents poll`);
        toAll.push(knownMs / 1000);
        const each: number[] = [];
        for (let at = 0; at < CHANGES_PER_ROUND; at += 1) {
          const id = `check-${(round * CHANGES_PER_ROUND + at) % checks}`;
          const change = { method: 'PATCH', path: `/v1/checks/${id}`, body: { name: `${round}` } };
          const until = { check: [id, `${round}`] };
          each.push((await driver.ask<Known>({ change, until })).knownMs);
        }
        toOne.push(Math.max(...each) / 1000);
        progress(
          `all agents know after ${Math.round(knownMs)} ms, the one agent of a check after ${Math.round(median(each))} ms`,
        );
      }
      const held = `${agents.toLocaleString('en')} agents poll (${database.name})`;
      return [
        {
          measure: `Service: a changed variable is known to the last agent, ${held}`,
          values: toAll,
          unit: 's',
          target: LIMIT,
        },
        {
          measure: `Service: a changed check is known to its agent, slowest of ${CHANGES_PER_ROUND}, ${held}`,
          values: toOne,
          unit: 's',
          target: LIMIT,
        },
      ];
    } finally {
      await driver.stop();
    }
  } finally {
    await service.stop();
  }
}

function setVariable(driver: Driver, method: 'POST' | 'PUT', round: number): Promise<Known> {
  const value = `round ${round}`;
  const path = method === 'POST' ? '/v1/variables' : '/v1/variables/ROUND';
  const change = { method, path, body: { key: 'ROUND', value } };
  return driver.ask<Known>({ change, until: { variable: ['ROUND', value] } });
}
