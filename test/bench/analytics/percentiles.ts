import type { Features } from '../../../src/service/feature-types.ts';
import { quantile } from '../row.ts';

/** The reads of a round, whose value is their 95th percentile. */
const READS = 20;
/** Reads before the measurement: the first ones of a connection read the database's catalogue. */
export const WARM_UPS = 3;

/** A key may send thirty requests a minute. */
export async function newKeyFor(
  features: Features,
  accountId: string,
  name: number,
): Promise<string> {
  return (await features.apiKeys.create(accountId, { name: `read-${name}`, role: 'read' })).key;
}

/** The 95th percentile of each round. */
export async function percentiles(
  rounds: number,
  keyOf: (read: number) => Promise<string>,
  ask: (key: string, read: number) => Promise<number>,
): Promise<readonly number[]> {
  let read = 0;
  const take = async (count: number): Promise<readonly number[]> => {
    const key = await keyOf(read);
    const tookMs: number[] = [];
    for (let asked = 0; asked < count; asked += 1, read += 1) tookMs.push(await ask(key, read));
    return tookMs;
  };
  await take(WARM_UPS);
  const values: number[] = [];
  for (let round = 0; round < rounds; round += 1) values.push(quantile(await take(READS), 0.95));
  return values;
}
