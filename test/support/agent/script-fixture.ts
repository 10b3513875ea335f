import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import type { ScriptTools } from '../../../src/agent/run/attempt-scripts.ts';
import type { RunnerParts } from '../../../src/agent/run/run.ts';
import { createScriptPool } from '../../../src/agent/scripts/script-pool.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { agentSecretsOf } from '../samples/secrets.ts';
import { type RunFixture, runFixture } from './run-fixture.ts';

const WORKER = join(import.meta.dirname, '../../../dist/agent/scripts/script-worker.js');

interface ScriptFixtureOptions {
  /** Milliseconds of one script. */
  readonly limitMs?: number;
  readonly workers?: number;
  readonly isEnabled?: boolean;
  readonly parts?: Partial<RunnerParts>;
}

/** Script workers, in real time. They end with the test. */
export function scriptTools({
  limitMs,
  workers = 2,
  isEnabled = true,
}: Omit<ScriptFixtureOptions, 'parts'> = {}): ScriptTools {
  const pool = createScriptPool({
    clock: systemClock,
    workerUrl: pathToFileURL(WORKER),
    workers,
  });
  onTestFinished(() => pool.close());
  return { pool, isEnabled, ...(limitMs === undefined ? {} : { limitMs }) };
}

/** The run pipeline with script workers, in real time. Ends with the test. */
export async function scriptFixture({
  parts = {},
  ...options
}: ScriptFixtureOptions = {}): Promise<RunFixture> {
  const scripts = scriptTools(options);
  const secrets = await agentSecretsOf();
  return runFixture({ clock: systemClock, parts: { secrets, ...parts, scripts } });
}
