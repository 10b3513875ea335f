import type { NotificationAttempt } from '../../model/alerting/notification-attempt.ts';
import type { Palette } from './colour.ts';
import { lineWithName } from './columns.ts';
import { LABEL_WIDTH } from './pretty-result.ts';
import { terminalSafe } from './terminal-safe.ts';

/**
 * Formats an attempt to send a notification on one line: its subject, the channel, and why it was not sent.
 * Ends with a line feed.
 *
 * @param width columns of the terminal; null for lines of any length
 */
export function prettyAttempt(
  { channel, headline, others, error, isRetried }: NotificationAttempt,
  palette: Palette,
  width: number | null = null,
): string {
  const label = error === null ? palette.good('SENT'.padEnd(LABEL_WIDTH)) : unsent(palette);
  const name = palette.strong(terminalSafe(channel.name));
  const next = isRetried ? 'tried again' : 'given up';
  const why = error === null ? '' : ` (${next}): ${terminalSafe(error)}`;
  const more = others === 0 ? '' : ` and ${others} more`;
  const after = ` ${palette.faint(`(${channel.type})`)}  ${terminalSafe(headline)}${more}${why}`;
  return `${lineWithName({ before: `${label}to `, name, after }, width)}\n`;
}

function unsent(palette: Palette): string {
  return palette.bad('UNSENT'.padEnd(LABEL_WIDTH));
}
