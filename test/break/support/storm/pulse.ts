import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { talkTo } from './talk.ts';

const PULSE = fileURLToPath(new URL('pulse.mjs', import.meta.url));

/** The wake-up delay of processes that are unrelated to the storm. */
export interface Pulse {
  /** The latest wake-up since the last call, milliseconds. */
  latestMs(): Promise<number>;
}

export async function startPulse(): Promise<Pulse> {
  const child = spawn(process.execPath, [PULSE], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const pulse = talkTo(child);
  await pulse.heard();
  return { latestMs: async () => Number(await pulse.say('how late?')) };
}
