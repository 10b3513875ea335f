import { z } from 'zod';
import {
  SERVICE_CHANNEL_TYPES,
  SERVICE_CHANNELS,
  type ServiceChannelType,
} from '../../../src/model/alerting/service-channels.ts';
import { secretFieldsOf } from '../../../src/model/alerting/service-targets.ts';

/** The properties of a field that the form of a channel needs. */
export interface ChannelField {
  readonly name: string;
  readonly kind: string;
  readonly isRequired?: true;
  readonly isNullable?: true;
  readonly isSecret?: true;
  readonly default?: unknown;
  readonly values?: readonly unknown[];
  readonly sample?: unknown;
  readonly text: string;
}

interface Schema {
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly description?: string;
}

/** The types of channels that send to services, with the fields of their configurations in order. */
export function channelTypesOf() {
  return Object.fromEntries(
    SERVICE_CHANNEL_TYPES.map((type) => {
      const { label, setup, closes } = SERVICE_CHANNELS[type];
      return [type, { label, setup, closes, fields: channelFieldsOf(type) }];
    }),
  );
}

/** The fields of the configuration of a type. */
export function channelFieldsOf(type: ServiceChannelType): readonly ChannelField[] {
  const config: z.ZodObject = SERVICE_CHANNELS[type].config;
  const samples = new Map<string, unknown>(Object.entries(SERVICE_CHANNELS[type].sample));
  const { properties = {}, required = [] } = z.toJSONSchema(config, { io: 'input' });
  return Object.entries(properties as Record<string, Schema>).map(([name, given]) => {
    const [schema = given] = given.anyOf?.filter((each) => each.type !== 'null') ?? [given];
    return {
      name,
      kind: schema.type ?? 'string',
      ...(required.includes(name) ? { isRequired: true as const } : {}),
      ...(given.anyOf === undefined ? {} : { isNullable: true as const }),
      ...(secretFieldsOf(type).includes(name) ? { isSecret: true as const } : {}),
      ...(typeof given.default === 'string' ? { default: given.default } : {}),
      ...(schema.enum === undefined ? {} : { values: schema.enum }),
      ...(samples.has(name) ? { sample: samples.get(name) } : {}),
      text: given.description ?? '',
    };
  });
}
