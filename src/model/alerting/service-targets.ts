import { z } from 'zod';
import { receiverText } from './channel-fields.ts';
import {
  SERVICE_CHANNEL_TYPES,
  SERVICE_CHANNELS,
  type ServiceChannelType,
} from './service-channels.ts';

/** The configuration of each type, with its secrets. */
export type ServiceConfigs = {
  readonly [Type in ServiceChannelType]: z.infer<(typeof SERVICE_CHANNELS)[Type]['config']>;
};

/** The receiver of a channel of one of these types. */
export type ServiceTarget = {
  [Type in ServiceChannelType]: { readonly type: Type; readonly config: ServiceConfigs[Type] };
}[ServiceChannelType];

/** The same without its secrets: a flag such as `hasToken` replaces each. */
export type PublicServiceTarget = {
  readonly type: ServiceChannelType;
  readonly config: PublicServiceConfig;
};

export type PublicServiceConfig = {
  readonly name: string;
  readonly url: string;
} & Readonly<Record<string, unknown>>;

export function isServiceChannel(type: unknown): type is ServiceChannelType {
  return SERVICE_CHANNEL_TYPES.some((known) => known === type);
}

/** The names of the secret fields of a type. */
export function secretFieldsOf(type: ServiceChannelType): readonly string[] {
  return SERVICE_CHANNELS[type].secrets;
}

/** The names of the fields of a type that keys without write permission do not see. */
export function maskedFieldsOf(type: ServiceChannelType): readonly string[] {
  return SERVICE_CHANNELS[type].masked ?? [];
}

/** The flag that replaces a secret field in responses: `hasBotToken` for `botToken`. */
export function secretFlagOf(field: string): string {
  return `has${field.charAt(0).toUpperCase()}${field.slice(1)}`;
}

const MASKED = z.string().describe('******** for keys without write permission.');

/** The configuration as responses have it. */
export function publicConfigSchema(type: ServiceChannelType): z.ZodObject {
  const { label } = SERVICE_CHANNELS[type];
  const config: z.ZodObject = SERVICE_CHANNELS[type].config;
  const secrets = secretFieldsOf(type);
  const masked = maskedFieldsOf(type);
  const shown = Object.entries(config.shape)
    .filter(([field]) => !secrets.includes(field))
    .map(([field, schema]) => [field, masked.includes(field) ? MASKED : schema] as const);
  const flags = secrets.map((field) => {
    const text = `Whether a value of \`${field}\` is stored.`;
    return [secretFlagOf(field), z.boolean().describe(text)] as const;
  });
  return z.strictObject(Object.fromEntries([...shown, ...flags])).describe(receiverText(label));
}
