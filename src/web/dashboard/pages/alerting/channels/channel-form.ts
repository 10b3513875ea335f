import type { components } from '../../../api/openapi.d.ts';
import { counted } from '../../../parts/formats.ts';
import type { ProblemKind } from '../../../parts/problems/problem-words.ts';
import {
  isService,
  NO_VALUES,
  newServiceValues,
  SERVICE_TYPES,
  SERVICES,
  type ServiceValues,
  serviceConfigOf,
  serviceValuesOf,
} from './service-fields.ts';

export type Channel = components['schemas']['AlertChannel'];
export type ChannelType = Channel['type'];

export const CHANNEL_TYPES: readonly {
  readonly type: ChannelType;
  readonly label: string;
  readonly says: string;
}[] = [
  { type: 'EMAIL', label: 'Email', says: 'One address. The service needs a mail server.' },
  { type: 'SLACK', label: 'Slack', says: 'A channel, by an incoming webhook.' },
  { type: 'WEBHOOK', label: 'Webhook', says: 'Any URL: a pager, a chat, your own program.' },
  { type: 'SMS', label: 'SMS', says: 'A phone number. The service needs an SMS gateway.' },
  ...SERVICE_TYPES.map((type) => ({
    type,
    label: SERVICES[type].label,
    says: SERVICES[type].closes
      ? 'Opens an incident, and resolves it when the check recovers.'
      : 'A message for each alert and recovery.',
  })),
];

/** The names of the types for people. */
export const CHANNEL_WORDS = Object.fromEntries(
  CHANNEL_TYPES.map(({ type, label }) => [type, label]),
) as Readonly<Record<ChannelType, string>>;

/** A header or a query parameter in the form. */
export interface Pair {
  readonly key: string;
  readonly value: string;
  readonly locked: boolean;
}

/** The values of the form: every field of every type, so that one form serves all of them. */
export interface ChannelForm {
  readonly type: ChannelType;
  readonly address: string;
  readonly url: string;
  readonly name: string;
  readonly number: string;
  readonly method: string;
  readonly template: string;
  readonly headers: readonly Pair[];
  readonly queryParameters: readonly Pair[];
  /** Empty to keep the stored secret. */
  readonly webhookSecret: string;
  /** Whether the stored secret is removed. */
  readonly removesSecret: boolean;
  readonly hasSecret: boolean;
  /** The configuration of a channel that sends to a service. */
  readonly service: ServiceValues;
  readonly sendFailure: boolean;
  readonly sendRecovery: boolean;
  readonly sendDegraded: boolean;
  readonly sendLocationSilent: 'as-failures' | 'yes' | 'no';
  readonly sendMonitoringProblems: 'as-failures' | readonly ProblemKind[];
  readonly sslExpiry: boolean;
  readonly sslExpiryThreshold: string;
  readonly groupBy: 'none' | NonNullable<Channel['groupBy']>;
  readonly groupWindow: string;
  /** Empty: no digest. */
  readonly degradedDigestHour: string;
  readonly subscribeAll: boolean;
  /** Empty for the default, like the next field. */
  readonly titleTemplate: string;
  readonly textTemplate: string;
  /** By the id of the check: whether the subscription is activated. */
  readonly subscriptions: ReadonlyMap<string, boolean>;
}

export function newForm(type: ChannelType): ChannelForm {
  return {
    type,
    address: '',
    url: '',
    name: '',
    number: '',
    method: 'POST',
    template: '',
    headers: [],
    queryParameters: [],
    webhookSecret: '',
    removesSecret: false,
    hasSecret: false,
    service: isService(type) ? newServiceValues(type) : NO_VALUES,
    sendFailure: true,
    sendRecovery: true,
    sendDegraded: false,
    sendLocationSilent: 'as-failures',
    sendMonitoringProblems: 'as-failures',
    sslExpiry: false,
    sslExpiryThreshold: '30',
    groupBy: 'none',
    groupWindow: '20',
    degradedDigestHour: '',
    subscribeAll: false,
    titleTemplate: '',
    textTemplate: '',
    subscriptions: new Map(),
  };
}

export function formOf(channel: Channel): ChannelForm {
  const { type, sendLocationSilent, sslExpiryThreshold } = channel;
  const form: ChannelForm = {
    ...newForm(type),
    sendFailure: channel.sendFailure,
    sendRecovery: channel.sendRecovery,
    sendDegraded: channel.sendDegraded,
    sendLocationSilent:
      sendLocationSilent === null ? 'as-failures' : sendLocationSilent ? 'yes' : 'no',
    sendMonitoringProblems: channel.sendMonitoringProblems ?? 'as-failures',
    sslExpiry: channel.sslExpiry,
    sslExpiryThreshold: String(sslExpiryThreshold),
    groupBy: channel.groupBy ?? 'none',
    groupWindow: String(channel.groupWindow),
    degradedDigestHour: String(channel.degradedDigestHour ?? ''),
    subscribeAll: channel.subscribeAll,
    titleTemplate: channel.titleTemplate ?? '',
    textTemplate: channel.textTemplate ?? '',
    subscriptions: new Map(
      channel.subscriptions.map(({ checkId, activated }) => [checkId, activated]),
    ),
  };
  switch (channel.type) {
    case 'EMAIL':
      return { ...form, address: channel.config.address };
    case 'SLACK':
      return { ...form, url: channel.config.url };
    case 'SMS':
      return { ...form, number: channel.config.number, name: channel.config.name };
    case 'WEBHOOK': {
      const { name, url, method, template, headers, queryParameters, hasWebhookSecret } =
        channel.config;
      return {
        ...form,
        name,
        url,
        method,
        template: template ?? '',
        headers,
        queryParameters,
        hasSecret: hasWebhookSecret,
      };
    }
    default:
      return { ...form, service: serviceValuesOf(channel.type, { ...channel.config }) };
  }
}

/** Whether its service closes the incidents that it opened: then each notice is a separate message. */
export function closesIncidents(type: ChannelType): boolean {
  return isService(type) && SERVICES[type].closes;
}

/** The body that creates the channel or, with all fields given, updates it. */
export function bodyOfForm(form: ChannelForm) {
  const closes = closesIncidents(form.type);
  return {
    type: form.type,
    config: configOf(form),
    sendFailure: form.sendFailure,
    sendRecovery: form.sendRecovery,
    sendDegraded: form.sendDegraded,
    sendLocationSilent:
      form.sendLocationSilent === 'as-failures' ? null : form.sendLocationSilent === 'yes',
    sendMonitoringProblems:
      form.sendMonitoringProblems === 'as-failures' ? null : form.sendMonitoringProblems,
    sslExpiry: form.sslExpiry,
    sslExpiryThreshold: Number(form.sslExpiryThreshold),
    groupBy: form.groupBy === 'none' || closes ? null : form.groupBy,
    groupWindow: Number(form.groupWindow),
    degradedDigestHour:
      form.degradedDigestHour === '' || closes ? null : Number(form.degradedDigestHour),
    subscribeAll: form.subscribeAll,
    titleTemplate: form.titleTemplate === '' ? null : form.titleTemplate,
    textTemplate: form.textTemplate === '' ? null : form.textTemplate,
    subscriptions: [...form.subscriptions].map(([checkId, activated]) => ({ checkId, activated })),
  };
}

function configOf(form: ChannelForm): Readonly<Record<string, unknown>> {
  switch (form.type) {
    case 'EMAIL':
      return { address: form.address.trim() };
    case 'SLACK':
      return { url: form.url.trim() };
    case 'SMS':
      return { number: form.number.replaceAll(/[\s()/-]/g, ''), name: form.name.trim() };
    case 'WEBHOOK': {
      const secret =
        form.webhookSecret !== ''
          ? { webhookSecret: form.webhookSecret }
          : form.removesSecret
            ? { webhookSecret: null }
            : {};
      return {
        name: form.name.trim(),
        url: form.url.trim(),
        method: form.method,
        template: form.template === '' ? null : form.template,
        headers: form.headers,
        queryParameters: form.queryParameters,
        ...secret,
      };
    }
    default:
      return serviceConfigOf(form.type, form.service);
  }
}

/** The text by which people recognise a channel. */
export function channelName(channel: Channel): string {
  switch (channel.type) {
    case 'EMAIL':
      return channel.config.address;
    case 'SLACK':
      return new URL(channel.config.url).host;
    case 'SMS':
      return `${channel.config.name} (${channel.config.number})`;
    default:
      return channel.config.name;
  }
}

/** Its name in the choice of the channels of a check. */
export function channelLabel(channel: Channel): string {
  return channel.subscribeAll ? `${channelName(channel)} (all checks)` : channelName(channel);
}

/** The checks that it is notified of, in words; null for none. */
export function servedWords({ subscribeAll, subscriptions }: Channel): string | null {
  const activated = subscriptions.map((one) => one.activated);
  return servedBy(subscribeAll, activated);
}

/** @param activated of each of its subscriptions */
export function servedBy(subscribeAll: boolean, activated: readonly boolean[]): string | null {
  const active = activated.filter(Boolean).length;
  if (!subscribeAll) return active === 0 ? null : counted(active, 'check');
  const exceptions = activated.length - active;
  return exceptions === 0 ? 'all checks' : `all but ${counted(exceptions, 'check')}`;
}

/** A subscription in a check or a heartbeat. */
interface Subscription {
  readonly alertChannelId: number;
  readonly activated: boolean;
}

/** The ids of the channels that are notified: those it names, and those of all checks. */
export function notifiedChannels(
  given: readonly Subscription[],
  channels: readonly Pick<Channel, 'id' | 'subscribeAll'>[],
): readonly string[] {
  const named = new Map(given.map(({ alertChannelId, activated }) => [alertChannelId, activated]));
  const ofAll = channels.filter(({ id, subscribeAll }) => subscribeAll && !named.has(id));
  const active = given.filter(({ activated }) => activated);
  return [...active.map(({ alertChannelId }) => alertChannelId), ...ofAll.map(({ id }) => id)].map(
    String,
  );
}

/**
 * The subscriptions of a check or a heartbeat with which exactly these channels are notified.
 *
 * @param channels the channels that were offered: others stay excluded if they are excluded now
 */
export function subscriptionsFor(
  chosen: readonly string[],
  given: readonly Subscription[],
  channels: readonly Pick<Channel, 'id' | 'subscribeAll'>[],
): Subscription[] {
  const known = new Map(channels.map(({ id, subscribeAll }) => [id, subscribeAll]));
  const wanted = new Set(chosen.map(Number));
  const active = [...wanted].filter((id) => known.get(id) !== true);
  const ofAll = channels.flatMap(({ id, subscribeAll }) => (subscribeAll ? [id] : []));
  const unknown = given.flatMap(({ alertChannelId: id, activated }) =>
    activated || known.has(id) ? [] : [id],
  );
  const excluded = [...ofAll, ...unknown].filter((id) => !wanted.has(id));
  return [
    ...active.map((alertChannelId) => ({ alertChannelId, activated: true })),
    ...excluded.map((alertChannelId) => ({ alertChannelId, activated: false })),
  ];
}

/** The kinds of notices that it gets, in words. */
export function wishesOf({
  sendFailure,
  sendDegraded,
  sendRecovery,
  sslExpiry,
  sslExpiryThreshold,
  sendLocationSilent,
  sendMonitoringProblems,
}: Channel): string {
  const wishes = [
    sendFailure && 'failures',
    sendDegraded && 'degraded',
    sendRecovery && 'recoveries',
    (sendLocationSilent ?? sendFailure) && 'silent locations',
    (sendMonitoringProblems === null ? sendFailure : sendMonitoringProblems.length > 0) &&
      'problems of monitoring',
    sslExpiry && `certificates (${sslExpiryThreshold} d)`,
  ].filter((wish): wish is string => wish !== false);
  return wishes.length === 0 ? 'nothing' : wishes.join(', ');
}
