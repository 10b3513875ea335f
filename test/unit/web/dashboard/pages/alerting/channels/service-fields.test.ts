import { describe, expect, it } from 'vitest';
import {
  hintOf,
  labelOf,
  newServiceValues,
  SERVICES,
  serviceConfigOf,
  serviceValuesOf,
} from '../../../../../../../src/web/dashboard/pages/alerting/channels/service-fields.ts';

const NTFY = { name: 'Phone', topic: 'alerts', url: 'https://ntfy.sh', hasToken: true };

describe('the form of a channel to a service', () => {
  it('says about a field what concerns a form', () => {
    expect(
      hintOf(
        'A token, or `-`; null for none. It is never returned; an update that omits it keeps the stored one.',
      ),
    ).toBe('A token, or -; empty for none.');
  });

  it('says about no field what concerns only requests', () => {
    const fields = Object.values(SERVICES).flatMap((service) => service.fields);
    const hints = fields.map(({ text }) => hintOf(text));
    expect(hints.filter((hint) => /`|\b(?:null|omits|update|returned)\b/.test(hint))).toEqual([]);
  });

  it('begins with the defaults, and leaves out what is empty and may be', () => {
    const values = newServiceValues('TELEGRAM');
    expect(values.texts).toMatchObject({ name: 'Telegram', url: 'https://api.telegram.org' });
    const texts = { ...values.texts, botToken: ' 1:a ', chatId: '-1', name: '' };
    expect(serviceConfigOf('TELEGRAM', { ...values, texts })).toEqual({
      botToken: '1:a',
      chatId: '-1',
      threadId: null,
      url: 'https://api.telegram.org',
    });
    const topic = { ...values, texts: { ...texts, threadId: '7' } };
    expect(serviceConfigOf('TELEGRAM', topic)).toMatchObject({ threadId: 7 });
  });

  it('keeps a stored secret that is left empty, replaces it, and removes it', () => {
    const values = serviceValuesOf('NTFY', NTFY);
    expect(values.stored).toEqual(['token']);
    const { hasToken: _, ...kept } = NTFY;
    expect(serviceConfigOf('NTFY', values)).toEqual(kept);
    const replaced = { ...values, texts: { ...values.texts, token: 'new' } };
    expect(serviceConfigOf('NTFY', replaced)).toEqual({ ...kept, token: 'new' });
    expect(serviceConfigOf('NTFY', { ...values, removed: ['token'] })).toEqual({
      ...kept,
      token: null,
    });
  });

  it('sends a missing field empty, so that the API names it', () => {
    expect(serviceConfigOf('TEAMS', newServiceValues('TEAMS'))).toEqual({
      name: 'Microsoft Teams',
      url: '',
    });
  });

  it('labels fields in words', () => {
    expect(['url', 'botToken', 'chatId', 'apiKey', 'username'].map(labelOf)).toEqual([
      'URL',
      'Bot token',
      'Chat ID',
      'API key',
      'Username',
    ]);
  });
});
