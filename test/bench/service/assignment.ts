import { startDriver } from '../driver.ts';
import type { Measured, PartContext } from '../part.ts';
import type { BenchDatabase } from './bench-database.ts';
import { createResources } from './create-resources.ts';
import { startService } from './service-process.ts';

const AGENTS = 5;

interface Released {
  readonly knownMs: number;
  readonly moved: number;
  readonly must: number;
}

/**
 * How long it takes until new agents have the checks of their location, and until the remaining
 * agents have the checks of one that left.
 */
export async function measureAssignment(
  database: BenchDatabase,
  checks: number,
  { rounds, progress, signal }: PartContext,
): Promise<readonly Measured[]> {
  progress(`assignment of ${checks} checks on ${database.name}`);
  const { apiKey, locationKey } = await createResources(database, checks);
  const service = await startService(database);
  try {
    const options = { origin: service.origin, locationKey, apiKey };
    const joined: number[] = [];
    const left: number[] = [];
    const moved: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const driver = await startDriver('poll-agents', options, signal);
      try {
        const startMs = performance.now();
        await driver.ask({ join: AGENTS });
        await driver.ask({ settled: checks });
        joined.push((performance.now() - startMs) / 1000);
        const leave = await driver.ask<Released>({ release: AGENTS - 1 });
        left.push(leave.knownMs / 1000);
        moved.push(leave.moved / leave.must);
        progress(
          `${AGENTS} agents have ${checks} checks after ${joined.at(-1)?.toFixed(2)} s; ${leave.moved} moved within ${left.at(-1)?.toFixed(2)} s`,
        );
        for (let agent = AGENTS - 2; agent >= 0; agent -= 1) await driver.ask({ leave: agent });
      } finally {
        await driver.stop();
      }
    }
    const what = `${checks.toLocaleString('en')} checks of ${AGENTS} agents (${database.name})`;
    return [
      {
        measure: `Service: agents that came have all their checks, ${what}`,
        values: joined,
        unit: 's',
      },
      {
        measure: `Service: one agent leaves, the others have all its checks, ${what}`,
        values: left,
        unit: 's',
        target: { of: 'value', bound: 'at most', number: 1 },
      },
      {
        measure: `Service: checks that moved when one left, by the share that must, ${what}`,
        values: moved,
        unit: '×',
        target: { of: 'value', bound: 'at most', number: 1.2 },
      },
    ];
  } finally {
    await service.stop();
  }
}
