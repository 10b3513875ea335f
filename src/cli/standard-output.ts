import { systemCodeOf } from '../runtime/errors.ts';
import { EXIT, type TerminalStream } from './terminal.ts';

/**
 * Notices when stdout cannot be written. A reader that closed it (`| head`) is no error. When the
 * disk is full the results are lost, so the exit code must not report success.
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
    // Nobody is left to read the error.
    stderr.on('error', () => {});
  }

  /** The exit code after all output so far was written, or failed to be. */
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
