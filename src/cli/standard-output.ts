import { systemCodeOf } from '../runtime/errors.ts';
import { EXIT, type TerminalStream } from './terminal.ts';

/**
 * Detects that stdout cannot be written. A reader that closed it (`| head`) is not an error. If the disk is full,
 * results are lost, so the exit code must not report success.
 */
export class StandardOutput {
  readonly #stdout: TerminalStream;
  readonly #stderr: TerminalStream;
  #errorCode: string | null = null;

  constructor(stdout: TerminalStream, stderr: TerminalStream) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    stdout.on('error', (error) => {
      this.#errorCode ??= systemCodeOf(error) ?? 'unknown';
    });
    // An error of stderr cannot be reported.
    stderr.on('error', () => {});
  }

  /** Returns the exit code after all output was written or has failed. */
  async settle(exitCode: number): Promise<number> {
    await new Promise<void>((resolve) => {
      if (this.#stdout.writable) this.#stdout.write('', () => resolve());
      else resolve();
    });
    // The error of a write is emitted after its callback.
    await new Promise((resolve) => setImmediate(resolve));
    const code = this.#errorCode;
    if (code === null || code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return exitCode;
    this.#stderr.write(`vedette: stdout cannot be written (${code}): output is lost\n`);
    return exitCode === EXIT.ok || exitCode === EXIT.closedOutput ? EXIT.unusable : exitCode;
  }
}
