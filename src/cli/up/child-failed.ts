import { EXIT } from '../terminal.ts';
import type { ChildEnd } from './child.ts';

/** A process that ended before all was up. Its message is one line for people. */
export class ChildFailed extends Error {
  readonly exitCode: number;

  constructor(name: string, end: ChildEnd) {
    super(end.lastWords ?? `the ${name} ended early (${howOf(end)})`);
    this.name = 'ChildFailed';
    this.exitCode = end.code === null || end.code === EXIT.ok ? EXIT.internal : end.code;
  }
}

/** How a process ended, in a few words. */
export function howOf({ code, signal }: ChildEnd): string {
  if (signal !== null) return `by ${signal}`;
  return code === null ? 'it could not be started' : `exit code ${code}`;
}
