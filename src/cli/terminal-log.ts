import type { RunConfig } from '../agent/config/agent-config.ts';
import { createLogger, type Logger, type LogLevel } from '../runtime/logger.ts';
import { wantsColour } from './print/colour.ts';
import type { Terminal } from './terminal.ts';

/**
 * A log for people on stderr, separate from the results.
 *
 * @param scrub see LoggerOptions
 */
export function createTerminalLog(
  { stderr, env, clock }: Terminal,
  level: LogLevel,
  scrub: (json: string) => string = (json) => json,
): Logger {
  const colour = wantsColour(stderr, env);
  return createLogger({ level, destination: stderr, format: 'pretty', colour, clock, scrub });
}

/** LOG_LEVEL if it is set, else the default level of the command. */
export function logLevelOr(
  { env }: Terminal,
  { logLevel }: Pick<RunConfig, 'logLevel'>,
  preferred: LogLevel,
): LogLevel {
  return (env.LOG_LEVEL ?? '').trim() === '' ? preferred : logLevel;
}
