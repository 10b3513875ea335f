import { z } from 'zod';
import {
  type CheckReferences,
  ENTRY_NOUNS,
  type NamedSubscription,
  type Section,
} from '../../../../model/check-file/sections.ts';
import { nearestName } from '../../../../runtime/text/nearest-name.ts';
import type { DocumentPath } from '../../common/file-problem.ts';
import { isMapping, type RawMapping } from '../../common/raw-mapping.ts';

/** The entries of a file that others may refer to: the ids of the sections and of the checks. */
export type KnownIds = Readonly<Record<Section | 'checks', ReadonlySet<string>>>;

export interface NamedEntry {
  /** The path of the name, from the entry that names it. */
  readonly path: DocumentPath;
  readonly section: Section | 'checks';
  readonly id: string;
  /** The `id` is the name of a channel, which the service may have. */
  readonly isName?: true;
}

/** Stands for an id of the service where the file names an entry: any number is valid there. */
const PLACEHOLDER = 1;
const MAX_SHOWN_CHARS = 60;
/** How many ids are compared with a mistyped name: a file may have 100,000. */
const MAX_COMPARED = 1000;
const isServiceId = (id: string): boolean => z.guid().safeParse(id).success;

/**
 * Removes the references to entries of the file from a check or a heartbeat, whose schema accepts
 * only ids of the service.
 *
 * @param body with its defaults
 */
export function withoutReferences(body: RawMapping): {
  readonly body: RawMapping;
  readonly named: readonly NamedEntry[];
} {
  const named: NamedEntry[] = [];
  const changes: Record<string, unknown> = {};
  const { groupId, alertChannelSubscriptions: subscriptions, triggerIncident } = body;
  if (typeof groupId === 'string') {
    named.push({ path: ['groupId'], section: 'groups', id: groupId });
    changes.groupId = null;
  }
  if (Array.isArray(subscriptions)) {
    changes.alertChannelSubscriptions = subscriptions.map((one: unknown, index) => {
      if (!isMapping(one)) return one;
      const name = channelNameIn(one);
      if (name !== null) {
        const path = ['alertChannelSubscriptions', index, 'alertChannelName'];
        named.push({ path, section: 'alertChannels', id: name, isName: true });
        const { alertChannelName: _, ...rest } = one;
        return { ...rest, alertChannelId: PLACEHOLDER };
      }
      if (typeof one.alertChannelId !== 'string') return one;
      const path = ['alertChannelSubscriptions', index, 'alertChannelId'];
      named.push({ path, section: 'alertChannels', id: one.alertChannelId });
      return { ...one, alertChannelId: PLACEHOLDER };
    });
  }
  const serviceId = isMapping(triggerIncident) ? triggerIncident.serviceId : null;
  if (typeof serviceId === 'string' && !isServiceId(serviceId)) {
    const path = ['triggerIncident', 'serviceId'];
    named.push({ path, section: 'statusServices', id: serviceId });
  }
  named.push(...listed(body.dependsOn, ['dependsOn'], 'checks'));
  const isChanged = Object.keys(changes).length > 0;
  return { body: isChanged ? { ...body, ...changes } : body, named };
}

/** Longer than any name that a channel can have. */
const MAX_NAME_CHARS = 2048;

/** null for anything but a name, which the schema then refuses. */
function channelNameIn({ alertChannelId, alertChannelName }: RawMapping): string | null {
  const isName = typeof alertChannelName === 'string' && alertChannelName !== '';
  return isName && alertChannelName.length <= MAX_NAME_CHARS && alertChannelId === undefined
    ? alertChannelName
    : null;
}

type Subscriptions = readonly { readonly alertChannelId: number; readonly activated: boolean }[];

/**
 * The names that `withoutReferences` took from a body whose subscriptions were parsed then.
 *
 * @param parsed null if the body has no list of subscriptions
 */
export function referencesOf(
  parsed: Subscriptions | null,
  named: readonly NamedEntry[],
): CheckReferences | null {
  const group = named.find(({ section }) => section === 'groups');
  const channels = new Map(
    named.flatMap((one) => (one.section === 'alertChannels' ? [[one.path[1], one] as const] : [])),
  );
  const all = (parsed ?? []).map(({ alertChannelId, activated }, index): NamedSubscription => {
    const channel = channels.get(index);
    if (channel === undefined) return { alertChannelId, activated };
    return channel.isName
      ? { alertChannelName: channel.id, activated }
      : { alertChannelId: channel.id, activated };
  });
  // The parsed check itself does not show whether the file has an empty list or none.
  const isEmptied = parsed?.length === 0;
  const subscriptions = channels.size > 0 || isEmptied ? all : null;
  if (group === undefined && subscriptions === null) return null;
  return {
    ...(group === undefined ? {} : { groupId: group.id }),
    ...(subscriptions === null ? {} : { alertChannelSubscriptions: subscriptions }),
  };
}

/** The entries that a service or a page names. */
export function namedBy(section: Section, fields: RawMapping): readonly NamedEntry[] {
  if (section === 'statusServices') {
    return [
      ...listed(fields.checkIds, ['checkIds'], 'checks'),
      ...listed(fields.heartbeatIds, ['heartbeatIds'], 'heartbeats'),
    ];
  }
  if (section !== 'statusPages' || !Array.isArray(fields.cards)) return [];
  return fields.cards.flatMap((card: unknown, index) => {
    const services = isMapping(card) ? card.services : null;
    const named = listed(services, ['cards', index, 'services'], 'statusServices');
    return named.filter(({ id }) => !isServiceId(id));
  });
}

function listed(
  ids: unknown,
  path: DocumentPath,
  section: NamedEntry['section'],
): readonly NamedEntry[] {
  if (!Array.isArray(ids)) return [];
  return ids.flatMap((id: unknown, index) =>
    typeof id === 'string' ? [{ path: [...path, index], section, id }] : [],
  );
}

/** Why an entry cannot be named, to stand after its path; null if the file has it. */
export function unknownReference(
  { path, section, id, isName }: NamedEntry,
  known: KnownIds,
): string | null {
  // Only the service knows the names of its channels.
  if (isName) return null;
  const ids = known[section];
  if (ids.has(id)) return null;
  // Before files had services, any text was valid there, and an agent without a service ignores it.
  if (path[0] === 'triggerIncident' && ids.size === 0) return null;
  // A file of status pages only names checks and heartbeats of the service.
  const isOfChecks = section === 'checks' || section === 'heartbeats';
  if (isOfChecks && known.checks.size + known.heartbeats.size === 0) return null;
  const noun = section === 'checks' ? 'check' : ENTRY_NOUNS[section];
  const nearest = nearestName(id, [...ids].slice(0, MAX_COMPARED));
  const hint =
    section === 'checks' && known.heartbeats.has(id)
      ? path[0] === 'dependsOn'
        ? 'it is a heartbeat, on which no check can depend'
        : 'it is a heartbeat, which belongs into heartbeatIds'
      : nearest === null
        ? `define it under ${section}`
        : `did you mean ${nearest}?`;
  const shown = JSON.stringify(
    id.length > MAX_SHOWN_CHARS ? `${id.slice(0, MAX_SHOWN_CHARS)}…` : id,
  );
  return `must name the ${noun} by its id in this file, which has no ${shown}; ${hint}`;
}
