import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { type Driver, startDriver } from '../driver.ts';
import type { Part, PartContext, Target } from '../part.ts';
import { plannedChecks } from '../schedule/checks.ts';

const MAIN = join(import.meta.dirname, '../../../dist/cli/main.js');
/** Slots are 5 ms apart on average, so that one is due as soon as the agent is ready. */
const MIX = { minutely: 9_000, tenSecondly: 1_000, held: 0 };
const MIN_ROUNDS = 5;
const LIMIT: Target = { of: 'value', bound: 'at most', number: 500 };

/** How soon a started process begins its first run. */
export const startPart: Part = {
  name: 'start',
  method:
    'The time from the spawn of `vedette agent` to the first connection that its target, in a separate process, accepts. The file has 10,000 checks (9,000 every minute and 1,000 every 10 s, so that a slot is due every 4 ms), once as JSON and once as YAML. The whole file is read and validated before the first run.',
  answer:
    'With YAML, the yaml library takes most of the time. A parser of our own for plain YAML was tried and reduced it to 0.43 times, but it is not used: a second grammar beside a library is a risk that the gain does not justify. Files with ten thousand checks are written by programs, which can write JSON.',
  programs: [],
  async run(context) {
    const folder = makeTempFolder();
    const target = await startDriver('schedule-target', {}, context.signal);
    try {
      const { port } = await target.ask<{ readonly port: number }>({ port: true });
      const planned = plannedChecks(MIX, { port, heldPort: port });
      const file = { checks: planned.map(({ body }) => body) };
      const texts = { json: JSON.stringify(file), yaml: stringify(file) };
      const values = { json: [] as number[], yaml: [] as number[] };
      const rounds = context.short ? 1 : Math.max(MIN_ROUNDS, context.rounds);
      for (let round = 0; round < rounds; round += 1) {
        context.progress(`starts with 10,000 checks, round ${round + 1} of ${rounds}`);
        const order = round % 2 === 0 ? (['json', 'yaml'] as const) : (['yaml', 'json'] as const);
        for (const language of order) {
          const path = folder.file(`checks.${language}`);
          writeFileSync(path, texts[language]);
          values[language].push(await startOnce(path, target, context));
        }
      }
      const measure = 'From spawn to first run, 10,000 checks';
      return [
        { measure: `${measure} as JSON`, values: values.json, unit: 'ms', target: LIMIT },
        { measure: `${measure} as YAML`, values: values.yaml, unit: 'ms', target: LIMIT },
      ];
    } finally {
      await target.stop();
      folder.remove();
    }
  },
};

/** Milliseconds from the spawn to the first connection. */
async function startOnce(file: string, target: Driver, { signal }: PartContext): Promise<number> {
  const first = target.ask<{ readonly firstMs: number }>({ first: true });
  const spawnedMs = performance.timeOrigin + performance.now();
  const agent = spawn(process.execPath, [MAIN, 'agent'], {
    env: { PATH: process.env.PATH, CHECKS_FILE: file, AGENT_HEALTH_PORT: '0', LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
  let said = '';
  agent.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  agent.on('error', () => {});
  const exit = once(agent, 'exit');
  const ended = exit.then(() => Promise.reject(new Error(`the agent ended: ${said}`)));
  try {
    const { firstMs } = await Promise.race([first, ended]);
    return firstMs - spawnedMs;
  } finally {
    ended.catch(() => {});
    agent.kill('SIGKILL');
    await exit;
  }
}
