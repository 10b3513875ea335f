import type { Writable } from 'node:stream';
import { type Logger as PinoLogger, pino } from 'pino';
import { type Clock, systemClock } from './clock.ts';
import { prettyLine } from './pretty-log.ts';
import { countText } from './text/count-text.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type Logger = PinoLogger;

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Usually stderr: stdout is for results. */
  readonly destination: Writable;
  /** `json`: one object a line, for machines. `pretty`: one readable line. */
  readonly format: 'json' | 'pretty';
  /** ANSI colours, for `pretty` only. The caller knows of NO_COLOR and whether it is a terminal. */
  readonly colour?: boolean;
  readonly clock?: Clock;
  /** Masks secrets in a JSON object, which has no level and time. */
  readonly scrub?: (json: string) => string;
  /** Receives each `err` that is logged at the levels error and fatal: bugs of Vedette. Must not throw. */
  readonly onError?: (error: unknown) => void;
}

/** pino's number of the level error. */
const ERROR_LEVEL = 50;

/** The limit of lines that wait for a reader of the log. A pipe without a reader must not fill the memory. */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * The log of this process. Never throws and never waits: without a destination it is silent; while
 * nobody reads it, it drops lines, and logs their number when it is read again.
 */
export function createLogger(options: LoggerOptions): Logger {
  const { level, destination, format, colour = false, clock = systemClock, onError } = options;
  const { scrub } = options;
  const shape = (given: string): string => {
    const line = scrub === undefined ? given : scrubbedLine(given, scrub);
    return format === 'pretty' ? prettyLine(line, colour) : line;
  };
  const isoTime = (): string => new Date(clock.wallMs()).toISOString();
  const missing = (lines: number): string =>
    `${JSON.stringify({ level: 'warn', time: isoTime(), msg: `${countText(lines, 'log line was', 'log lines were')} left out: the log was not read in time` })}\n`;

  let leftOut = 0;
  // Without a listener, a broken pipe would end the process.
  destination.on('error', () => {});
  const lines = {
    write(json: string): void {
      if (!destination.writable) return;
      if (destination.writableLength > MAX_WAITING_BYTES) {
        leftOut += 1;
        return;
      }
      if (leftOut > 0) {
        destination.write(shape(missing(leftOut)));
        leftOut = 0;
      }
      destination.write(shape(json));
    },
  };
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${isoTime()}"`,
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        logMethod(args, method, atLevel) {
          const [about]: readonly unknown[] = args;
          if (atLevel >= ERROR_LEVEL && isAboutError(about)) onError?.(about.err);
          method.apply(this, args);
        },
      },
    },
    lines,
  );
}

/** Level and time cannot contain secrets and are not scrubbed: a secret may be `info`, or a year. */
const HEAD = /^\{"level":"[a-z]+","time":"[^"\\]*",/;

/** Ends with a line feed, like the given line. */
function scrubbedLine(line: string, scrub: (json: string) => string): string {
  const head = HEAD.exec(line)?.[0] ?? '{';
  const rest = scrub(`{${line.slice(head.length).trimEnd()}`);
  // A scrubber that cannot parse the object returns something else.
  return rest.startsWith('{') ? `${head}${rest.slice(1)}\n` : `${rest}\n`;
}

function isAboutError(about: unknown): about is { readonly err: unknown } {
  return typeof about === 'object' && about !== null && 'err' in about;
}
