import found from '../../../api/channel-fields.json' with { type: 'json' };

/** A field of the configuration of a channel that sends to a service, as the API has it. */
export interface ServiceField {
  readonly name: string;
  readonly kind: 'string' | 'integer';
  readonly isRequired?: boolean;
  readonly isNullable?: boolean;
  /** Never returned by the API: an empty value keeps the stored one. */
  readonly isSecret?: boolean;
  readonly default?: string;
  readonly values?: readonly string[];
  readonly sample?: string;
  readonly text: string;
}

interface ServiceChannel {
  readonly label: string;
  /** How to get the values. */
  readonly setup: string;
  /** Whether a recovery closes what an alert opened. */
  readonly closes: boolean;
  readonly fields: readonly ServiceField[];
}

export type ServiceType = keyof typeof found;

export const SERVICES = found as unknown as Readonly<Record<ServiceType, ServiceChannel>>;
export const SERVICE_TYPES = Object.keys(SERVICES) as ServiceType[];

/** The values of the form for such a channel. */
export interface ServiceValues {
  /** The texts of its fields by name. */
  readonly texts: Readonly<Record<string, string>>;
  /** The names of secret fields with a stored value. */
  readonly stored: readonly string[];
  /** The names of the stored secrets to remove. */
  readonly removed: readonly string[];
}

export const NO_VALUES: ServiceValues = { texts: {}, stored: [], removed: [] };

export function isService(type: string): type is ServiceType {
  return Object.hasOwn(SERVICES, type);
}

export function newServiceValues(type: ServiceType): ServiceValues {
  const defaults = SERVICES[type].fields.map((field) => [field.name, field.default ?? ''] as const);
  return { ...NO_VALUES, texts: Object.fromEntries(defaults) };
}

/** @param config of a response */
export function serviceValuesOf(
  type: ServiceType,
  config: Readonly<Record<string, unknown>>,
): ServiceValues {
  const { fields } = SERVICES[type];
  const texts = fields.map(({ name }) => [name, String(config[name] ?? '')] as const);
  const secrets = fields.filter(({ isSecret }) => isSecret === true);
  return {
    texts: Object.fromEntries(texts),
    stored: secrets.map(({ name }) => name).filter((name) => config[flagOf(name)] === true),
    removed: [],
  };
}

/** The configuration for a request. */
export function serviceConfigOf(
  type: ServiceType,
  { texts, stored, removed }: ServiceValues,
): Readonly<Record<string, unknown>> {
  const given = SERVICES[type].fields.flatMap(
    ({ name, kind, isNullable, isSecret, ...field }): [string, string | number | null][] => {
      const text = (texts[name] ?? '').trim();
      if (text !== '') return [[name, kind === 'integer' ? Number(text) : text]];
      if (isSecret === true && stored.includes(name) && !removed.includes(name)) return [];
      if (isNullable === true) return [[name, null]];
      return field.default === undefined ? [[name, '']] : [];
    },
  );
  return Object.fromEntries(given);
}

/** `hasBotToken` of `botToken`. */
function flagOf(name: string): string {
  return `has${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

/** The hint of a field: the description of the API, without the parts that concern requests. */
export function hintOf(text: string): string {
  return text
    .replaceAll('`', '')
    .replace('; null for', '; empty for')
    .replace(' It is never returned; an update that omits it keeps the stored one.', '');
}

/** `Bot token` of `botToken`. */
export function labelOf(name: string): string {
  if (name === 'url') return 'URL';
  const words = name
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replaceAll(/\bid\b/g, 'ID')
    .replaceAll(/\bapi\b/g, 'API');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
