import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import type { Part, PartContext } from '../part.ts';
import { runToEnd } from '../support/child-process.ts';
import { type FloodServer, withFloodServers } from '../support/flood-servers.ts';

const MAIN = join(import.meta.dirname, '../../../dist/cli/main.js');
const MIN_ROUNDS = 3;
/** A short run tries one of this many kinds. */
const SHORT_EACH = 4;
/** Exit codes of `vedette run`: it may pass, as the beginning of an endless body is enough. */
const [PASSED, FAILED] = [0, 1];
const LIMIT = { of: 'value', bound: 'at most', number: 2 } as const;

/** How much processor time one hostile response can take before the agent ends it. */
export const floodsPart: Part = {
  name: 'floods',
  method:
    'Targets that respond without end, each in a different way: pieces of framing without a body, bodies in pieces of one byte, compressed zeros, frames and TLS records without content. `vedette run` runs one check of each, in a separate process. The CPU time of this process, less that of a run whose target responds at once, is the cost of the response until the agent ended it.',
  programs: [],
  run: (context) =>
    withFloodServers(async (all, answering) => {
      const floods = context.short ? all.filter((_flood, index) => index % SHORT_EACH === 0) : all;
      const folder = makeTempFolder();
      try {
        const file = folder.file('check.json');
        const rounds = context.short ? 1 : Math.max(MIN_ROUNDS, context.rounds);
        const worst: number[] = [];
        for (let round = 0; round < rounds; round += 1) {
          const start = await cpuSecondsOf({ name: 'nothing', url: answering }, file);
          worst.push(await worstOf(floods, file, start, context));
        }
        return [
          {
            measure: `CPU of one hostile response, worst of ${floods.length} kinds`,
            values: worst,
            summary: 'worst',
            unit: 's',
            target: LIMIT,
          },
        ];
      } finally {
        folder.remove();
      }
    }),
};

async function worstOf(
  floods: readonly FloodServer[],
  file: string,
  startSeconds: number,
  { progress, signal }: PartContext,
): Promise<number> {
  let worst = 0;
  for (const flood of floods) {
    signal.throwIfAborted();
    progress(`${flood.name} without end`);
    const seconds = (await cpuSecondsOf(flood, file)) - startSeconds;
    worst = Math.max(worst, seconds);
  }
  return worst;
}

async function cpuSecondsOf({ url }: FloodServer, file: string): Promise<number> {
  const check = { id: 'flood', checkType: 'API', request: { url, skipSSL: true } };
  writeFileSync(file, JSON.stringify({ checks: [check] }));
  const args = [MAIN, 'run', file, '--output', 'json', '--no-retries'];
  const { cpuMs } = await runToEnd(process.execPath, args, { codes: [PASSED, FAILED] });
  return cpuMs / 1000;
}
