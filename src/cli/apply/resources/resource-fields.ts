import { z } from 'zod';
import type { ServiceChannelType } from '../../../model/alerting/service-channels.ts';
import {
  isServiceChannel,
  secretFieldsOf,
  secretFlagOf,
} from '../../../model/alerting/service-targets.ts';
import { commonFields } from '../../../model/check/check.ts';
import { entrySchemaOf, type FileEntry, type Section } from '../../../model/check-file/sections.ts';
import { MASK } from '../../../model/credentials/mask.ts';
import { logicalIdOf } from '../../../model/logical-id.ts';
import {
  fieldsOfWindow,
  maintenanceWindowOf,
  maintenanceWindowSchema,
} from '../../../model/schedule/maintenance-window.ts';
import { parseTolerantly } from '../../../wire/v1/tolerant-parse.ts';
import { alertSettingsOf, sortedSubscriptions, UNKNOWN_SECRET } from '../normal-form.ts';

/** The API path of each section. */
export const RESOURCE_PATHS: Readonly<Record<Section, string>> = {
  alertChannels: '/v1/alert-channels',
  groups: '/v1/check-groups',
  heartbeats: '/v1/checks/heartbeats',
  statusServices: '/v1/status-pages/services',
  statusPages: '/v1/status-pages',
  maintenanceWindows: '/v1/maintenance-windows',
};

export type Fields = Readonly<Record<string, unknown>>;

/** Fields of the API that a file does not set. Checks name their channels, not the other way round. */
const NOT_COMPARED: readonly string[] = ['subscriptions'];

/** Converts the fields of an entry to the form that is compared and sent. */
export function fieldsOfEntry(
  section: Section,
  { id, fields }: FileEntry,
  fileName: string | null,
): Fields {
  return normalForm(section, { ...fields, logicalId: logicalIdOf({ file: fileName, id }) });
}

/**
 * Converts the fields of a response to the form that is compared; null if this release cannot parse it.
 *
 * @param shown the response without its references, which `named` translates afterwards
 */
export function fieldsOfResponse(
  section: Section,
  shown: Fields,
  named: (fields: Fields) => Fields,
): Fields | null {
  const schema = entrySchemaOf(section, shown.type);
  if (schema === null) return null;
  // A newer service may return more fields, and every service adds some.
  const known = Object.keys(schema.shape);
  const given = Object.entries(withoutAdditions(section, shown)).filter(([key]) =>
    known.includes(key),
  );
  const parsed = parseTolerantly(schema, Object.fromEntries(given));
  return parsed.ok ? normalForm(section, named(parsed.value)) : null;
}

const card = z.looseObject({
  name: z.string(),
  services: z.array(z.looseObject({ id: z.string() })),
});

function withoutAdditions(section: Section, shown: Fields): Fields {
  if (section === 'alertChannels') {
    const { type, config } = shown;
    const whole = isServiceChannel(type)
      ? withUnknownServiceSecrets(type, config)
      : withUnknownSecrets(config);
    return { ...shown, config: whole };
  }
  const cards = section === 'statusPages' ? z.array(card).safeParse(shown.cards) : null;
  if (cards?.success !== true) return shown;
  return {
    ...shown,
    cards: cards.data.map(({ name, services }) => ({ name, services: services.map(idOf) })),
  };
}

function idOf({ id }: { readonly id: string }): string {
  return id;
}

const pairs = z
  .array(z.looseObject({ key: z.string(), value: z.string(), locked: z.boolean() }))
  .transform((list) =>
    list.map((pair) => (pair.locked ? { ...pair, value: UNKNOWN_SECRET } : pair)),
  );
const webhook = z.looseObject({
  headers: pairs,
  queryParameters: pairs,
  hasWebhookSecret: z.boolean(),
});

/** Replaces each secret, which the service never returns, by UNKNOWN_SECRET. */
function withUnknownSecrets(config: unknown): unknown {
  const parsed = webhook.safeParse(config);
  if (!parsed.success) return config;
  const { hasWebhookSecret, ...rest } = parsed.data;
  return { ...rest, webhookSecret: hasWebhookSecret ? UNKNOWN_SECRET : null };
}

/** The same for a channel of a third-party service, whose flags show which secrets it has. */
function withUnknownServiceSecrets(type: ServiceChannelType, config: unknown): unknown {
  const parsed = z.record(z.string(), z.unknown()).safeParse(config);
  if (!parsed.success) return config;
  const secrets = secretFieldsOf(type);
  const flags = secrets.map(secretFlagOf);
  // A mask is no valid value of some fields, such as the topic of NTFY.
  const shown = Object.entries(parsed.data)
    .filter(([field]) => !flags.includes(field))
    .map(([field, value]) => [field, value === MASK ? UNKNOWN_SECRET : value] as const);
  const unknown = secrets.map((field) => {
    return [field, parsed.data[secretFlagOf(field)] === true ? UNKNOWN_SECRET : null] as const;
  });
  return Object.fromEntries([...shown, ...unknown]);
}

const settings = commonFields.alertSettings.unwrap();

function normalForm(section: Section, fields: Fields): Fields {
  const compared = Object.fromEntries(
    Object.entries(fields).filter(([field]) => !NOT_COMPARED.includes(field)),
  );
  switch (section) {
    case 'maintenanceWindows':
      return fieldsOfWindow(maintenanceWindowOf(maintenanceWindowSchema.parse(compared)));
    case 'groups': {
      const given = settings.safeParse(compared.alertSettings).data;
      return { ...compared, alertSettings: given === undefined ? null : alertSettingsOf(given) };
    }
    case 'heartbeats': {
      const { alertChannelSubscriptions: named } = compared;
      return {
        ...compared,
        alertSettings: alertSettingsOf(settings.safeParse(compared.alertSettings).data),
        triggerIncident: compared.triggerIncident ?? null,
        ...(named === undefined ? {} : { alertChannelSubscriptions: sortedSubscriptions(named) }),
      };
    }
    case 'alertChannels':
      return compared.type === 'WEBHOOK' ? withWebhookSecret(compared) : compared;
    default:
      return compared;
  }
}

function withWebhookSecret(channel: Fields): Fields {
  return { ...channel, config: { webhookSecret: null, ...(channel.config as Fields) } };
}
