import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { type Memory, memoryOfAgent } from '../memory/idle-agent.ts';
import { idleAssignments, idleChecks } from '../memory/idle-checks.ts';
import type { Measured, Part, PartContext, Target } from '../part.ts';
import { startChild } from '../support/child-process.ts';

const SERVICE = join(import.meta.dirname, '../drivers/agent-service.mjs');
const LIMIT: Target = { of: 'value', bound: 'at most', number: 1.5 };
const KIB = 1024;

type TempFolder = ReturnType<typeof makeTempFolder>;
type Source = 'from a file' | 'from a service';

/** The memory of checks that only wait for their slots. */
export const memoryPart: Part = {
  name: 'memory',
  method:
    'Checks with a period of 24 hours, none of them due, from a JSON file and as assignments of a service. The memory of the agent with these checks, less its memory with a single check, is divided by their number. Kept: heap and buffers after full garbage collections that are forced through the inspector. Resident: RSS after these collections, which includes memory that the start needed and the allocator has not returned.',
  programs: [],
  async run(context) {
    const counts = context.short ? [1_000] : [10_000, 100_000];
    const rows: Measured[] = [];
    for (const source of ['from a file', 'from a service'] as const) {
      const empty: Memory[] = [];
      for (let round = 0; round < context.rounds; round += 1) {
        empty.push(await measure(source, 1, context));
      }
      for (const count of counts) {
        const full: Memory[] = [];
        for (let round = 0; round < context.rounds; round += 1) {
          context.progress(
            `${count} idle checks ${source}, round ${round + 1} of ${context.rounds}`,
          );
          full.push(await measure(source, count, context));
        }
        const perCheck = (bytesOf: (memory: Memory) => number): number[] =>
          full.map((memory, n) => (bytesOf(memory) - bytesOf(empty[n] ?? memory)) / count / KIB);
        const what = `${count.toLocaleString('en')} idle checks ${source}`;
        const kept = perCheck(({ keptBytes }) => keptBytes);
        rows.push({
          measure: `Kept for each of ${what}`,
          values: kept,
          unit: 'KiB',
          target: LIMIT,
        });
        const resident = perCheck(({ residentBytes }) => residentBytes);
        rows.push({ measure: `Resident for each of ${what}`, values: resident, unit: 'KiB' });
      }
    }
    return rows;
  },
};

async function measure(source: Source, count: number, context: PartContext): Promise<Memory> {
  const folder = makeTempFolder();
  const restMs = context.short ? 500 : 3_000;
  try {
    return source === 'from a file'
      ? await fromFile(folder, count, restMs, context.signal)
      : await fromService(folder, count, restMs, context.signal);
  } finally {
    folder.remove();
  }
}

function fromFile(
  folder: TempFolder,
  count: number,
  restMs: number,
  signal: AbortSignal,
): Promise<Memory> {
  const file = folder.file('checks.json');
  writeFileSync(file, JSON.stringify({ checks: idleChecks(count, Date.now()) }));
  return memoryOfAgent({ CHECKS_FILE: file }, allIn(count), restMs, signal);
}

async function fromService(
  folder: TempFolder,
  count: number,
  restMs: number,
  signal: AbortSignal,
): Promise<Memory> {
  const input = JSON.stringify({ assignments: idleAssignments(count, Date.now()) });
  const service = await startChild(process.execPath, [SERVICE], {
    input,
    readyOn: { stream: 'stdout', pattern: /(\d+)\n/ },
  });
  try {
    const env = {
      SERVICE_URL: `http://127.0.0.1:${service.firstLine}`,
      API_KEY: `pl_${'0'.repeat(32)}`,
      DATA_DIR: folder.file('data'),
      EXTERNAL_OBSERVABILITY: 'off',
    };
    return await memoryOfAgent(env, allIn(count), restMs, signal);
  } finally {
    await service.stop();
  }
}

function allIn(count: number): RegExp {
  return new RegExp(`"scheduled":${count},"msg":"checks loaded"`);
}
