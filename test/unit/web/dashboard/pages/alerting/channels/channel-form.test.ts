import { describe, expect, it } from 'vitest';
import {
  ALERT_CHANNEL_TYPES,
  type AlertChannelType,
  alertChannelSchema,
} from '../../../../../../../src/model/alerting/alert-channel.ts';
import {
  SERVICE_CHANNELS,
  type ServiceChannelType,
} from '../../../../../../../src/model/alerting/service-channels.ts';
import {
  bodyOfForm,
  CHANNEL_TYPES,
  type ChannelForm,
  newForm,
  notifiedChannels,
  servedBy,
  subscriptionsFor,
} from '../../../../../../../src/web/dashboard/pages/alerting/channels/channel-form.ts';

const CHANNELS = [
  { id: 1, subscribeAll: false },
  { id: 2, subscribeAll: true },
  { id: 3, subscribeAll: true },
];
const on = (alertChannelId: number) => ({ alertChannelId, activated: true });
const off = (alertChannelId: number) => ({ alertChannelId, activated: false });

const FILLED: Readonly<Record<Exclude<AlertChannelType, ServiceChannelType>, object>> = {
  EMAIL: { address: 'ops@example.com' },
  SLACK: { url: 'https://hooks.slack.example/services/T0' },
  SMS: { name: 'Mira', number: '+49 1511 2345678' },
  WEBHOOK: { name: 'Pager', url: 'https://pager.example/hook' },
};

/** The form of a new channel, with the fields that a user must set. */
function filledForm(type: AlertChannelType): ChannelForm {
  const form = newForm(type);
  if (type in FILLED) return { ...form, ...FILLED[type as keyof typeof FILLED] };
  const sample = Object.entries(SERVICE_CHANNELS[type as ServiceChannelType].sample);
  const given = sample.map(([name, value]) => [name, String(value)] as const);
  const texts = { ...form.service.texts, ...Object.fromEntries(given) };
  return { ...form, service: { ...form.service, texts } };
}

describe('the form of a new channel', () => {
  it('is there for every type', () => {
    expect(CHANNEL_TYPES.map(({ type }) => type).toSorted()).toEqual(
      ALERT_CHANNEL_TYPES.toSorted(),
    );
  });

  it.each(ALERT_CHANNEL_TYPES)('makes a channel of the type %s', (type) => {
    const made = alertChannelSchema.safeParse(bodyOfForm(filledForm(type)));
    expect(made.error?.issues).toBeUndefined();
    if (type in FILLED) return;
    const { sample } = SERVICE_CHANNELS[type as ServiceChannelType];
    expect(made.data).toMatchObject({ type, config: sample });
  });
});

describe('the channels of a check in its form', () => {
  it('are those that it names, and those of all checks that it does not exclude', () => {
    expect(notifiedChannels([on(1), off(3)], CHANNELS)).toEqual(['1', '2']);
    expect(notifiedChannels([], CHANNELS)).toEqual(['2', '3']);
    expect(notifiedChannels([on(3), off(1)], CHANNELS)).toEqual(['3', '2']);
  });

  it('are excluded where they are notified of all checks and not chosen', () => {
    expect(subscriptionsFor(['1', '2'], [], CHANNELS)).toEqual([on(1), off(3)]);
    expect(subscriptionsFor(['2', '3'], [off(3)], CHANNELS)).toEqual([]);
  });

  it('stay as they are where there was no choice of them', () => {
    expect(subscriptionsFor(['2', '3', '8'], [on(8), off(9)], CHANNELS)).toEqual([on(8), off(9)]);
  });
});

describe('the checks that a channel serves, in words', () => {
  it.each([
    [false, [], null],
    [false, [true, false], '1 check'],
    [true, [], 'all checks'],
    [true, [true], 'all checks'],
    [true, [false, false], 'all but 2 checks'],
  ])('with subscribeAll %s and %j are %s', (subscribeAll, activated, words) => {
    expect(servedBy(subscribeAll, activated)).toBe(words);
  });
});
