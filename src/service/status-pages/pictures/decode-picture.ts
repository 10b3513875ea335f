import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import PQueue from 'p-queue';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import { failed, PICTURE_TYPES, type PictureOutcome, refused } from './picture.ts';
import type { PictureJob, PictureReply } from './picture-worker.ts';

export interface PictureDecoder {
  /** Never rejects. Aborting ends it as a failure that is not final. */
  decode(job: PictureJob, file: Buffer, signal: AbortSignal): Promise<PictureOutcome>;
}

/** Time limit of the process, including its start. */
const LIMIT_MS = 10_000;
/** The heap of JavaScript alone; the process bounds its memory itself. */
const MAX_HEAP_MIB = 64;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/**
 * Decodes untrusted pictures one at a time, each in its own process: a picture that makes a decoder crash, hang
 * or use too much memory ends only that process. The process has limited time and memory, and no environment
 * variables or open files of the service. It is not a sandbox: code that takes over a decoder can open files and
 * connections as the user that runs the service.
 *
 * @param workerUrl the compiled picture-worker.js
 */
export function createPictureDecoder(clock: Clock, workerUrl: URL): PictureDecoder {
  const queue = new PQueue({ concurrency: 1 });
  const path = fileURLToPath(workerUrl);
  return {
    async decode(job, file, signal) {
      try {
        return await queue.add(() => decodeApart({ clock, path, job, file }, signal));
      } catch (thrown) {
        return notStarted(thrown);
      }
    },
  };
}

interface Decoding {
  readonly clock: Clock;
  readonly path: string;
  readonly job: PictureJob;
  readonly file: Buffer;
}

function decodeApart(
  { clock, path, job, file }: Decoding,
  signal: AbortSignal,
): Promise<PictureOutcome> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      resolve(failed('the service stopped'));
      return;
    }
    const child = spawn(process.execPath, [`--max-old-space-size=${MAX_HEAP_MIB}`, path], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: {},
    });
    let ended: PictureOutcome | null = null;
    const endBy = (outcome: PictureOutcome): void => {
      ended ??= outcome;
      child.kill('SIGKILL');
    };
    const onAbort = (): void => endBy(failed('the service stopped'));
    signal.addEventListener('abort', onAbort, { once: true });
    const cancel = clock.after(LIMIT_MS, () =>
      endBy(refused(`the picture could not be decoded within ${LIMIT_MS / 1000} s`)),
    );
    const parts: Buffer[] = [];
    let bytes = 0;
    child.stdout.on('data', (part: Buffer) => {
      parts.push(part);
      bytes += part.length;
      if (bytes > MAX_OUTPUT_BYTES) endBy(refused('the picture is too large, even made smaller'));
    });
    const release = (): void => {
      cancel();
      signal.removeEventListener('abort', onAbort);
    };
    // The process may end before it has read everything.
    child.stdin.on('error', () => {});
    child.once('error', (error) => {
      // A process that did not start may never close, and the signal lives as long as the service.
      release();
      reject(error);
    });
    child.once('close', (code) => {
      release();
      resolve(ended ?? (code === 0 ? outcomeIn(Buffer.concat(parts)) : NOT_DECODED));
    });
    child.stdin.write(`${JSON.stringify(job)}\n`);
    child.stdin.end(file);
  });
}

function notStarted(thrown: unknown): PictureOutcome {
  return failed(`the decoder could not be started: ${messageOf(thrown)}`);
}

const NOT_DECODED = refused('the picture could not be decoded');

/** Validates the output of the process, which is not trusted: the picture may have taken over the decoder. */
function outcomeIn(output: Buffer): PictureOutcome {
  const end = output.indexOf('\n');
  if (end < 0) return NOT_DECODED;
  let reply: PictureReply;
  try {
    reply = JSON.parse(output.subarray(0, end).toString());
  } catch {
    return NOT_DECODED;
  }
  if (!reply.ok) return refused(reply.problem);
  const { type, width, height } = reply;
  const isSane = PICTURE_TYPES.includes(type) && [width, height].every(Number.isSafeInteger);
  if (!isSane) return NOT_DECODED;
  return { ok: true, picture: { type, width, height, bytes: output.subarray(end + 1) } };
}
