import { describe, expect, it } from 'vitest';
import { paletteFor } from '../../../../src/cli/print/colour.ts';
import { prettyAttempt } from '../../../../src/cli/print/pretty-attempt.ts';
import type { NotificationAttempt } from '../../../../src/model/alerting/notification-attempt.ts';

const ATTEMPT: NotificationAttempt = {
  channel: { type: 'WEBHOOK', name: 'My hook' },
  headline: 'Shop has failed',
  others: 0,
  error: null,
  isRetried: false,
};
const text = (fields: Partial<NotificationAttempt>, width: number | null = null) =>
  prettyAttempt({ ...ATTEMPT, ...fields }, paletteFor(false), width);

describe('prettyAttempt', () => {
  it('names the channel of a notification that was sent', () => {
    expect(text({})).toBe('SENT    to My hook (WEBHOOK)  Shop has failed\n');
  });

  it('counts the other notifications of the same message', () => {
    expect(text({ others: 3 })).toBe('SENT    to My hook (WEBHOOK)  Shop has failed and 3 more\n');
  });

  it('says why a notification was not sent, and whether it is tried again', () => {
    const error = 'the connection was refused';
    expect(text({ error, isRetried: true })).toBe(
      'UNSENT  to My hook (WEBHOOK)  Shop has failed (tried again): the connection was refused\n',
    );
    expect(text({ error })).toContain('(given up): the connection was refused');
  });

  it('stays on one line of the terminal, which a name or an answer cannot steer', () => {
    const channel = { type: 'WEBHOOK', name: 'My\n\u001b[2Jhook' };
    const line = text({ channel, error: 'a'.repeat(200) }, 60);
    expect(line).toMatch(/^UNSENT {2}to .*…\n$/);
    expect(line).not.toContain('\u001b');
    expect([...line.trimEnd()].length).toBeLessThanOrEqual(60);
  });
});
