import { channelNameOf } from '../../../model/alerting/channel-name.ts';
import type {
  CheckReferences,
  FileEntry,
  FileResources,
  NamedSubscription,
} from '../../../model/check-file/sections.ts';
import { fileEntryOf } from '../../../model/logical-id.ts';
import { nearestName } from '../../../runtime/text/nearest-name.ts';
import type { ServiceId } from './references.ts';
import type { Fields } from './resource-fields.ts';

/** A channel as the service shows it. */
type KnownChannel = Fields & { readonly id: ServiceId; readonly logicalId: string | null };

/** Why checks and heartbeats cannot be applied, by their ids. */
export type NameProblems = ReadonlyMap<string, readonly string[]>;

/**
 * Replaces the names of channels in the resources of a file by ids. A name is first looked up among the names and
 * ids of the file's channels, then among the names and logical ids of the service's channels.
 *
 * @returns also the resources that name an unknown or ambiguous channel, which are not applied
 */
export function withChannelIds(
  { sections, references }: FileResources,
  known: readonly KnownChannel[],
): { readonly resources: FileResources; readonly problems: NameProblems } {
  const problems = new Map<string, readonly string[]>();
  const idOf = channelFinder(sections.alertChannels, known);
  const resolved = <One extends CheckReferences>(id: string, one: One): One => {
    const { alertChannelSubscriptions: given } = one;
    if (given === undefined || !given.some(isByName)) return one;
    const wrong: string[] = [];
    const alertChannelSubscriptions = given.flatMap((each) => {
      if (!isByName(each)) return [each];
      const found = idOf(each.alertChannelName);
      if (!('problem' in found)) return [{ alertChannelId: found.id, activated: each.activated }];
      wrong.push(found.problem);
      return [];
    });
    if (wrong.length > 0) problems.set(id, wrong);
    return { ...one, alertChannelSubscriptions };
  };
  const ofChecks = [...references].map(([id, one]) => [id, resolved(id, one)] as const);
  const heartbeats = sections.heartbeats.map(({ id, fields }) => {
    return { id, fields: resolved(id, fields as CheckReferences) as FileEntry['fields'] };
  });
  const resources = { sections: { ...sections, heartbeats }, references: new Map(ofChecks) };
  return { resources, problems };
}

function isByName(
  one: NamedSubscription,
): one is NamedSubscription & { readonly alertChannelName: string } {
  return 'alertChannelName' in one;
}

/** Maximum number of names that are compared with a mistyped name. */
const MAX_COMPARED = 1000;

function idsByName(
  channels: readonly { readonly id: ServiceId; readonly names: readonly (string | null)[] }[],
): ReadonlyMap<string, ReadonlySet<ServiceId>> {
  const found = new Map<string, Set<ServiceId>>();
  for (const { id, names } of channels) {
    for (const name of names) {
      if (name !== null) found.set(name, (found.get(name) ?? new Set()).add(id));
    }
  }
  return found;
}

type Found = { readonly id: ServiceId } | { readonly problem: string };

function channelFinder(
  entries: readonly FileEntry[],
  known: readonly KnownChannel[],
): (name: string) => Found {
  const ofFile = idsByName(
    entries.map(({ id, fields }) => ({ id, names: [channelNameOf(fields), id] })),
  );
  const ofService = idsByName(
    known.map(({ id, logicalId, ...channel }) => {
      const logical = logicalId === null ? [] : [logicalId, fileEntryOf(logicalId).id];
      return { id, names: [channelNameOf(channel), ...logical] };
    }),
  );
  return (name) => {
    const shown = JSON.stringify(name);
    const [first, ...others] = ofFile.get(name) ?? ofService.get(name) ?? [];
    if (first !== undefined && others.length === 0) return { id: first };
    if (first !== undefined) {
      const ids = [first, ...others].join(', ');
      const problem = `names the alert channel ${shown}, but ${others.length + 1} have this name: write one of ${ids} as alertChannelId`;
      return { problem };
    }
    const names = [...ofFile.keys(), ...ofService.keys()];
    const nearest = nearestName(name, names.slice(0, MAX_COMPARED));
    const hint = nearest === null ? '' : `; did you mean ${JSON.stringify(nearest)}?`;
    return {
      problem: `names the alert channel ${shown}, which neither the file nor the service has${hint}`,
    };
  };
}
