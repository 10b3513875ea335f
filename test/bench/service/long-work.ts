import { startDriver } from '../driver.ts';
import type { Measured, PartContext } from '../part.ts';
import type { BenchDatabase } from './bench-database.ts';
import { createResources } from './create-resources.ts';
import { startService } from './service-process.ts';

interface Stall {
  readonly name: string | null;
  readonly stallMs: number;
}

const LIMIT = { of: 'value', bound: 'at most', number: 50 } as const;

/** How long the longest work of one request stops the event loop of the service. */
export async function measureLongWork(
  database: BenchDatabase,
  { rounds, progress, signal }: PartContext,
): Promise<readonly Measured[]> {
  progress(`the longest work of one request on ${database.name}`);
  const { apiKey } = await createResources(database, 1);
  const service = await startService(database);
  try {
    const { origin } = service;
    const driver = await startDriver('long-work', { origin, apiKey }, signal);
    try {
      /** The longest of each round, by the name of the work. */
      const stalls = new Map<string, number[]>();
      // The first round compiles the code of the service and of the driver.
      for (let round = -1; round < rounds; round += 1) {
        for (let work = 0; ; work += 1) {
          const { name, stallMs } = await driver.ask<Stall>({ work });
          if (name === null) break;
          const values = stalls.get(name) ?? [];
          if (round >= 0) values[round] = Math.max(values[round] ?? 0, stallMs);
          stalls.set(name, values);
        }
      }
      return [...stalls].map(([name, values]) => ({
        measure: `Service: longest stall of the event loop by ${name}`,
        values,
        summary: 'worst' as const,
        unit: 'ms',
        target: LIMIT,
      }));
    } finally {
      await driver.stop();
    }
  } finally {
    await service.stop();
  }
}
