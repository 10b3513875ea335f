import { z } from 'zod';
import type { Check } from '../../../model/check/check.ts';
import type { CheckReferences, Section } from '../../../model/check-file/sections.ts';
import type { KnownCheck } from '../normal-form.ts';
import type { Fields } from './resource-fields.ts';

/** The id of a resource at the service. */
export type ServiceId = string | number;

/** Maps entries of the file to resources of the service. */
export class ResourceIds {
  readonly #ids = new Map<string, ServiceId>();
  readonly #entries = new Map<string, string>();

  set(section: Section, entryId: string, id: ServiceId): void {
    this.#ids.set(keyOf(section, entryId), id);
    this.#entries.set(keyOf(section, id), entryId);
  }

  idOf(section: Section, entryId: string): ServiceId | null {
    return this.#ids.get(keyOf(section, entryId)) ?? null;
  }

  /** The id of the resource's entry in the file; the given id if it has no entry. */
  entryOf(section: Section, id: ServiceId): ServiceId {
    return this.#entries.get(keyOf(section, id)) ?? id;
  }
}

function keyOf(section: Section, id: ServiceId): string {
  return `${section} ${id}`;
}

type Translate = (section: Section, id: ServiceId) => ServiceId;

const idSchema = z.union([z.string(), z.number()]);
const subscriptions = z.array(z.looseObject({ alertChannelId: idSchema }));
const trigger = z.looseObject({ serviceId: z.string() });
const cards = z.array(z.looseObject({ services: z.array(z.string()) }));

/** Translates every id of another resource in the fields. */
function translated(fields: Fields, translate: Translate): Fields {
  const changes: Record<string, unknown> = {};
  const group = idSchema.safeParse(fields.groupId);
  if (group.success) changes.groupId = translate('groups', group.data);
  const subscribed = subscriptions.safeParse(fields.alertChannelSubscriptions);
  if (subscribed.success) {
    changes.alertChannelSubscriptions = subscribed.data.map((one) => ({
      ...one,
      alertChannelId: translate('alertChannels', one.alertChannelId),
    }));
  }
  const triggered = trigger.safeParse(fields.triggerIncident);
  if (triggered.success) {
    const { serviceId } = triggered.data;
    const service = translate('statusServices', serviceId);
    changes.triggerIncident = { ...triggered.data, serviceId: service };
  }
  const shown = cards.safeParse(fields.cards);
  if (shown.success) {
    changes.cards = shown.data.map((card) => ({
      ...card,
      services: card.services.map((id) => translate('statusServices', id)),
    }));
  }
  return { ...fields, ...changes };
}

/** Replaces ids of the service by ids of the file. */
export function withEntryIds(fields: Fields, ids: ResourceIds): Fields {
  return translated(fields, (section, id) => ids.entryOf(section, id));
}

/**
 * Replaces ids of the file by ids of the service.
 *
 * @returns `missing`: referenced entries that were not created
 */
export function withServiceIds(
  fields: Fields,
  ids: ResourceIds,
  isEntry: (section: Section, id: string) => boolean,
): {
  readonly fields: Fields;
  readonly missing: readonly { readonly section: Section; readonly id: string }[];
} {
  const missing: { section: Section; id: string }[] = [];
  const found = translated(fields, (section, id) => {
    if (typeof id === 'number' || !isEntry(section, id)) return id;
    const known = ids.idOf(section, id);
    if (known === null) missing.push({ section, id });
    return known ?? id;
  });
  return { fields: found, missing };
}

/** Adds the entries that the checks name, in the fields in which the API has ids. */
export function withReferences(
  checks: readonly Check[],
  references: ReadonlyMap<string, CheckReferences>,
): readonly Check[] {
  if (references.size === 0) return checks;
  // These checks are only compared and shown; they are translated before they are sent.
  return checks.map((check) => ({ ...check, ...references.get(check.id) }) as unknown as Check);
}

/** The ids of the checks for which the file has an empty list of channels. */
export function checksWithoutChannels(
  references: ReadonlyMap<string, CheckReferences>,
): ReadonlySet<string> {
  const ids = [...references].flatMap(([id, { alertChannelSubscriptions: named }]) =>
    named?.length === 0 ? [id] : [],
  );
  return new Set(ids);
}

/** Replaces ids of the service by ids of the file in checks of the service, for comparison with those of the file. */
export function knownWithEntryIds(
  known: readonly KnownCheck[],
  ids: ResourceIds,
): readonly KnownCheck[] {
  return known.map((entry) => {
    if (entry.check === null) return entry;
    const fields = { ...entry.check } as unknown as Fields;
    return { ...entry, check: withEntryIds(fields, ids) as unknown as Check };
  });
}

/** The services that incidents of these checks or heartbeats name. */
export function triggeredServices(bodies: readonly Fields[]): ReadonlySet<string> {
  const ids = bodies.flatMap(({ triggerIncident }) => {
    const parsed = trigger.safeParse(triggerIncident);
    return parsed.success ? [parsed.data.serviceId] : [];
  });
  return new Set(ids);
}
