import { fileEntryOf } from '../../model/logical-id.ts';

/** A resource that gets an id in the file. */
interface NamedResource {
  /** The id that the service assigned. */
  readonly id: string | number;
  readonly logicalId: string | null;
  readonly name: string;
}

const MAX_ID_CHARS = 80;

/**
 * Maps the ids of resources at the service to ids in the file: the id in the file that created the
 * resource, or else an id derived from its name. The order of the resources does not affect ids that
 * come from files: exporting what was applied from an export gives the same ids.
 *
 * @param noun the id of a resource whose name has no letter or digit
 */
export function entryIds(
  resources: readonly NamedResource[],
  noun: string,
): ReadonlyMap<string | number, string> {
  const ids = new Map<string | number, string>();
  const taken = new Set<string>();
  const add = ({ id }: NamedResource, wanted: string): void => {
    let free = wanted;
    for (let n = 2; taken.has(free); n += 1) free = `${wanted}-${n}`;
    taken.add(free);
    ids.set(id, free);
  };
  const byLogicalId = (one: NamedResource, other: NamedResource): number =>
    (one.logicalId ?? '') < (other.logicalId ?? '') ? -1 : 1;
  const fromFiles = resources.filter(({ logicalId }) => logicalId !== null);
  for (const one of fromFiles.toSorted(byLogicalId)) {
    // Several named files may each have an entry with this id.
    add(one, cut(fileEntryOf(one.logicalId ?? '').id));
  }
  for (const one of resources) if (one.logicalId === null) add(one, slugOf(one.name) ?? noun);
  return ids;
}

/** Leaves room for a number. */
function cut(id: string): string {
  return id.slice(0, MAX_ID_CHARS);
}

/** Converts a text to an id (CHECK_ID): `Web shop (EU)` is `web-shop-eu`. null without a letter or digit. */
function slugOf(name: string): string | null {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return slug === '' ? null : cut(slug);
}
