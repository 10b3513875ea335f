import { parentPort, workerData } from 'node:worker_threads';
import { loadSequentially } from '../../../runtime/load-sequentially.ts';
import type { ProblemReport } from '../common/file-problem.ts';
import type { CheckFile } from './parse-check-file.ts';

// Each thread loads its own modules.
loadSequentially(import.meta.url, './parse-check-file.js');
loadSequentially(import.meta.url, '../common/file-problem.js');
loadSequentially(import.meta.url, './fingerprint.js');
const { parseCheckFile } = await import('./parse-check-file.ts');
const { FileProblemsError } = await import('../common/file-problem.ts');
const { fingerprintOf } = await import('./fingerprint.ts');

/** The start message of the thread. */
export interface ParseJob {
  readonly text: string;
  readonly file: string;
}

/** The only reply of the thread. */
export type ParseReply =
  | { readonly ok: true; readonly checkFile: CheckFile }
  | { readonly ok: false; readonly report: ProblemReport };

async function reply({ text, file }: ParseJob): Promise<ParseReply> {
  try {
    const checkFile = await parseCheckFile(text, file);
    // Computed in the worker, as it takes long.
    const fingerprint = checkFile.fingerprint ?? (await fingerprintOf(checkFile));
    return { ok: true, checkFile: { ...checkFile, fingerprint } };
  } catch (thrown) {
    if (!(thrown instanceof FileProblemsError)) throw thrown;
    const { problems, omitted, pemFiles } = thrown;
    return { ok: false, report: { problems, omitted, pemFiles } };
  }
}

parentPort?.postMessage(await reply(workerData as ParseJob));
