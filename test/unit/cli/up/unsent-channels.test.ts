import { describe, expect, it } from 'vitest';
import { unsentChannelNotes } from '../../../../src/cli/up/unsent-channels.ts';
import { NO_RESOURCES } from '../../../../src/model/check-file/sections.ts';

const channels = (...types: readonly string[]) => ({
  resources: {
    ...NO_RESOURCES,
    sections: {
      ...NO_RESOURCES.sections,
      alertChannels: types.map((type, n) => ({ id: `channel-${n}`, fields: { type }, at: [] })),
    },
  },
});

describe('channels that the service of vedette up cannot send to', () => {
  it('are named with the variable that is missing', () => {
    expect(unsentChannelNotes(channels('EMAIL', 'WEBHOOK', 'EMAIL', 'SMS'), {})).toEqual([
      '2 email channels of the file get no alerts: SMTP_URL is not set; start with SMTP_URL and SMTP_FROM',
      '1 SMS channel of the file gets no alerts: SMS_GATEWAY_URL is not set; start with SMS_GATEWAY_URL',
    ]);
  });

  it('are none where the variable is set, nor where the file has no such channel', () => {
    const env = { SMTP_URL: 'smtp://127.0.0.1:2525', SMTP_FROM: 'alerts@example.com' };
    expect(unsentChannelNotes(channels('EMAIL'), env)).toEqual([]);
    expect(unsentChannelNotes(channels('WEBHOOK'), {})).toEqual([]);
    expect(unsentChannelNotes({}, {})).toEqual([]);
  });
});
