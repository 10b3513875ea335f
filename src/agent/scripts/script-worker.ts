/** The worker thread that runs scripts, one at a time. */
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { newSandbox, Sandbox } from './sandbox.ts';
import type { FromWorker, ToWorker } from './script-protocol.ts';

/** The thread gets less CPU than threads that measure targets; 0 is the default, 19 the least. */
const NICENESS = 5;

const post = (message: FromWorker): void => parentPort?.postMessage(message);

function lowerPriority(): void {
  try {
    // On Linux this sets the priority of the calling thread only, elsewhere that of the process.
    if (process.platform === 'linux') setPriority(0, NICENESS);
  } catch {
    // A sandbox around the agent may forbid it: scripts then run like everything else.
  }
}

let sandbox: Sandbox | null = null;
// Compiled before the next script arrives, so that compiling does not take from its time.
let prepared = newSandbox();

async function start(message: Extract<ToWorker, { kind: 'start' }>): Promise<void> {
  const module = await prepared;
  const run = new Sandbox(module, (sent) => {
    post(sent);
    if (sent.kind !== 'ended') return;
    sandbox = null;
    prepared = newSandbox();
    // Ignores a failure here: the next script fails when it awaits the sandbox.
    prepared.then(() => post({ kind: 'ready' })).catch(() => {});
  });
  sandbox = run;
  run.start(message);
}

lowerPriority();
parentPort?.on('message', (message: ToWorker) => {
  if (message.kind === 'fetched') sandbox?.fetched(message.id, message.reply);
  else void start(message);
});
await prepared;
post({ kind: 'ready' });
