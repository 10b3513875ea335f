// Measures the wake-up delay of a process that is unrelated to the storm and uses about as much of
// the machine as an agent: a timer of 10 ms and 2 ms of work, repeatedly. For each line of input it
// prints the latest wake-up since the previous one, in milliseconds. Ends with its input.
import { createInterface } from 'node:readline';

const EVERY_MS = 10;
const WORK_MS = 2;
let latestMs = 0;
let dueMs = performance.now() + EVERY_MS;

function beat() {
  const nowMs = performance.now();
  latestMs = Math.max(latestMs, nowMs - dueMs);
  while (performance.now() - nowMs < WORK_MS);
  latestMs = Math.max(latestMs, performance.now() - nowMs - WORK_MS);
  dueMs = performance.now() + EVERY_MS;
  setTimeout(beat, EVERY_MS);
}
setTimeout(beat, EVERY_MS);
process.stdout.write('beating\n');

const lines = createInterface({ input: process.stdin });
lines.on('line', () => {
  process.stdout.write(`${latestMs}\n`);
  latestMs = 0;
});
lines.on('close', () => process.exit());
