import { z } from 'zod';
import type { Check } from '../../../model/check/check.ts';
import type { CheckReferences, Section } from '../../../model/check-file/sections.ts';
import type { KnownCheck } from '../normal-form.ts';
import type { Fields } from './resource-fields.ts';

/** The id of a resource at the service. */
export type ServiceId = string | number;

/** Which resource of the service each entry of the file is. */
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

  /** The id of the entry in the file; the given one where no entry of the file is that resource. */
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

/** The fields with every id of another resource translated. */
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

/** With the ids of the file in place of those of the service. */
export function withEntryIds(fields: Fields, ids: ResourceIds): Fields {
  return translated(fields, (section, id) => ids.entryOf(section, id));
}

/**
 * With the ids of the service in place of those of the file.
 *
 * @returns `missing`: entries that were not created
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

/** The checks with the entries that they name, in the place of the ids that the API has there. */
export function withReferences(
  checks: readonly Check[],
  references: ReadonlyMap<string, CheckReferences>,
): readonly Check[] {
  if (references.size === 0) return checks;
  // Only compared, shown, and translated before they are sent.
  return checks.map((check) => ({ ...check, ...references.get(check.id) }) as unknown as Check);
}

/** Checks of the service with ids of the file in place of the service's, comparable with those above. */
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

/** The services that an incident of these checks or heartbeats would name. */
export function triggeredServices(bodies: readonly Fields[]): ReadonlySet<string> {
  const ids = bodies.flatMap(({ triggerIncident }) => {
    const parsed = trigger.safeParse(triggerIncident);
    return parsed.success ? [parsed.data.serviceId] : [];
  });
  return new Set(ids);
}
