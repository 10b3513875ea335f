import { parentPort, workerData } from 'node:worker_threads';
import { loadSequentially } from '../../../runtime/load-sequentially.ts';
import type { TargetText } from './target-document.ts';

// Each thread loads its own modules.
loadSequentially(import.meta.url, './target-document.js');
const { readTargetDocuments } = await import('./target-document.ts');

parentPort?.postMessage(await readTargetDocuments((workerData as TargetJob).texts));

/** The start message of the thread. Its only reply is a `TargetsRead` for each text. */
export interface TargetJob {
  readonly texts: readonly TargetText[];
}
