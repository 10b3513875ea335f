import { z } from 'zod';
import { isServiceChannel, secretFieldsOf } from '../../../model/alerting/service-targets.ts';
import {
  ENTRY_NOUNS,
  type FileEntry,
  type FileResources,
  SECTIONS,
  type Section,
} from '../../../model/check-file/sections.ts';
import { fileEntryOf } from '../../../model/logical-id.ts';
import { VedetteError } from '../../../runtime/errors.ts';
import { problemOf } from '../../../wire/v1/tolerant-parse.ts';
import { allPages } from '../../service-api/all-pages.ts';
import type { ApiClient } from '../../service-api/api-client.ts';
import type { ApplyRefusal, UnlistedAction } from '../check-plan.ts';
import { changedFields, type FieldChange, fieldChanges } from '../field-changes.ts';
import { ownershipProblem } from '../file-ownership.ts';
import { hasNames } from '../fill-secrets.ts';
import { creationProblem } from '../reserved-ids.ts';
import type { NameProblems } from './channel-names.ts';
import { hasHidden, withHidden } from './hidden-fields.ts';
import { ResourceIds, type ServiceId, withEntryIds } from './references.ts';
import { type Fields, fieldsOfEntry, fieldsOfResponse, RESOURCE_PATHS } from './resource-fields.ts';
import { possibleValues, withKnownTexts } from './unfilled-texts.ts';

/** One change of a resource other than a check. References are ids of the file. */
export type ResourceStep =
  | {
      readonly kind: 'create';
      readonly section: Section;
      readonly id: string;
      readonly body: Fields;
    }
  | {
      readonly kind: 'update';
      readonly section: Section;
      readonly id: string;
      readonly serviceId: ServiceId;
      /** The resource when the plan was made; null if this release cannot parse it. */
      readonly before: Fields | null;
      readonly changes: readonly FieldChange[];
      /** The fields to send. */
      readonly body: Fields;
    }
  | {
      readonly kind: 'delete';
      readonly section: Section;
      readonly id: string;
      readonly serviceId: ServiceId;
    };

export interface ResourcePlan {
  /** In the order in which they are done, deletions last. */
  readonly steps: readonly ResourceStep[];
  readonly refusals: readonly ApplyRefusal[];
  readonly unchanged: readonly Section[];
  /** The sections of resources that are equal as far as the key may see them, but have hidden fields. */
  readonly uncompared: readonly Section[];
  /** The sections of resources that are equal except, perhaps, for secrets and for texts with missing values. */
  readonly unfilled: readonly Section[];
  /** The sections of resources that a file created and no longer defines, and that stay. */
  readonly others: readonly Section[];
  readonly ids: ResourceIds;
  /** Whether the file has such an entry. */
  readonly isEntry: (section: Section, id: string) => boolean;
}

const knownSchema = z.looseObject({
  id: z.union([z.string(), z.number()]),
  // An earlier release has no such field.
  logicalId: z.string().nullable().default(null),
});
export type KnownResource = z.output<typeof knownSchema>;
export type KnownResources = Readonly<Record<Section, readonly KnownResource[]>>;

/** @throws VedetteError like ApiClient.get */
export async function readKnownResources(
  client: Pick<ApiClient, 'get'>,
  signal: AbortSignal,
): Promise<KnownResources> {
  const lists: [Section, readonly KnownResource[]][] = [];
  for (const section of SECTIONS) {
    const read = (json: unknown): readonly KnownResource[] => readList(section, json);
    lists.push([section, await allPages(client, RESOURCE_PATHS[section], read, signal)]);
  }
  return Object.fromEntries(lists) as Record<Section, readonly KnownResource[]>;
}

function readList(section: Section, json: unknown): readonly KnownResource[] {
  const parsed = z.array(knownSchema).safeParse(json);
  if (parsed.success) return parsed.data;
  const message = `SERVICE_URL names no Vedette service: its list of ${ENTRY_NOUNS[section]}s is not valid (${problemOf(parsed.error)})`;
  throw new VedetteError('environment', 'SERVICE_FAILED', message);
}

/** @param id the id of the entry in its file */
export type UnlistedResourceOf = (section: Section, id: string) => UnlistedAction;

interface PlanOptions {
  readonly unlistedResourceOf: UnlistedResourceOf;
  readonly comparison: ChannelComparison;
  /** Whether a text must not be shown, whatever its field. */
  readonly isSecret: (text: string) => boolean;
  /** As of PlanRequest. */
  readonly isUnfilled: boolean;
  /** Why heartbeats cannot be applied. */
  readonly problems?: NameProblems;
}

/** A file whose resources are planned. */
type PlannedFile = Pick<FileResources, 'sections'> & {
  /** null if it has none. */
  readonly fileName: string | null;
};

/** Plans the steps that make the account's resources match those of the file. */
export function planResources(
  { sections, fileName }: PlannedFile,
  known: KnownResources,
  { unlistedResourceOf, comparison, isSecret, isUnfilled, problems = new Map() }: PlanOptions,
): ResourcePlan {
  const ids = knownIds({ sections, fileName }, known);
  const steps: ResourceStep[] = [];
  const refusals: ApplyRefusal[] = [];
  const unchanged: Section[] = [];
  const uncompared: Section[] = [];
  const unfilled: Section[] = [];
  const others: Section[] = [];
  for (const section of SECTIONS) {
    const resources = new Map(known[section].map((one) => [String(one.id), one]));
    for (const entry of sections[section]) {
      const reasons = section === 'heartbeats' ? problems.get(entry.id) : undefined;
      if (reasons !== undefined) {
        refusals.push({ kind: section, id: entry.id, reasons });
        continue;
      }
      const serviceId = ids.idOf(section, entry.id);
      const before = serviceId === null ? undefined : resources.get(String(serviceId));
      const options = { ids, comparison, isSecret, isUnfilled, fileName };
      const planned = planEntry(section, entry, before, options);
      if (planned === null) unchanged.push(section);
      else if (planned === 'uncompared') uncompared.push(section);
      else if (planned === 'unfilled') unfilled.push(section);
      else if ('reasons' in planned) refusals.push(planned);
      else steps.push(planned);
    }
  }
  for (const section of SECTIONS.toReversed()) {
    const listed = new Set(sections[section].map(({ id }) => id));
    for (const one of known[section]) {
      // Resources that another file or no file created are never changed.
      if (one.logicalId === null) continue;
      const { file, id } = fileEntryOf(one.logicalId);
      if (file !== fileName || listed.has(id)) continue;
      const action = unlistedResourceOf(section, id);
      const step = action === 'keep' ? null : endOf(section, one, action);
      if (step !== null) steps.push(step);
      else if (action === 'keep') others.push(section);
    }
  }
  const entries = new Map(
    SECTIONS.map((section) => [section, new Set(sections[section].map(({ id }) => id))]),
  );
  const isEntry = (section: Section, id: string): boolean => entries.get(section)?.has(id) ?? false;
  return { steps, refusals, unchanged, uncompared, unfilled, others, ids, isEntry };
}

/**
 * Heartbeats have the same id in the file and at the service; all others are found by their logical id. Resources
 * that the file created before it had a name have a logical id without a file name.
 */
function knownIds({ sections, fileName }: PlannedFile, known: KnownResources): ResourceIds {
  const ids = new ResourceIds();
  for (const section of SECTIONS) {
    const listed = new Set(sections[section].map(({ id }) => id));
    for (const file of fileName === null ? [null] : [null, fileName]) {
      for (const { id, logicalId } of known[section]) {
        const entry = fileEntryOf(logicalId ?? '');
        const isOwn = section === 'heartbeats' || (logicalId !== null && entry.file === file);
        const entryId = section === 'heartbeats' ? String(id) : entry.id;
        if (isOwn && listed.has(entryId)) ids.set(section, entryId, id);
      }
    }
  }
  return ids;
}

function planEntry(
  section: Section,
  entry: FileEntry,
  known: KnownResource | undefined,
  {
    ids,
    comparison,
    isSecret,
    isUnfilled,
    fileName,
  }: Pick<ResourcePlan, 'ids'> &
    Pick<PlannedFile, 'fileName'> &
    Pick<PlanOptions, 'comparison' | 'isSecret' | 'isUnfilled'>,
): ResourceStep | ApplyRefusal | 'uncompared' | 'unfilled' | null {
  const { id } = entry;
  const after = fieldsOfEntry(section, entry, fileName);
  if (known === undefined) {
    const reason = section === 'heartbeats' ? creationProblem(id) : null;
    if (reason !== null) return { kind: section, id, reasons: [reason] };
    return { kind: 'create', section, id, body: after };
  }
  const problem = ownershipProblem(known.logicalId, fileName);
  if (problem !== null) return { kind: section, id, reasons: [problem] };
  if (section === 'alertChannels' && known.type !== after.type) {
    const reason = `is ${String(known.type)} in the service and ${String(after.type)} in the file, and the type of a channel never changes: give it another id`;
    return { kind: section, id, reasons: [reason] };
  }
  const before = comparedFields(section, known, ids);
  const update = { kind: 'update', section, id, serviceId: known.id, before } as const;
  if (before === null) {
    const texts = { before: 'of another release', after: 'as in the file' };
    const changes = [{ path: 'all fields', ...texts, isWrittenAgain: false }];
    return { ...update, changes, body: after };
  }
  const whole = leavesChannels(section, after)
    ? { ...after, alertChannelSubscriptions: before.alertChannelSubscriptions }
    : after;
  const isChannel = section === 'alertChannels';
  const lacksValues = isChannel && isUnfilled && hasNames(whole.config);
  const filled = lacksValues
    ? { ...whole, config: withKnownTexts(before.config, whole.config) }
    : whole;
  const isUncompared =
    isChannel && (comparison.isForbidden || lacksValues) && hasHidden(before.config);
  const wanted = isUncompared
    ? { ...filled, config: withHidden(before.config, filled.config) }
    : filled;
  const isSame = isChannel && comparison.same.has(id);
  const shown = isSame ? { ...before, config: after.config } : before;
  const names = changedFields(shown, wanted);
  if (names.length === 0 && lacksValues) return 'unfilled';
  if (names.length === 0) return isUncompared ? 'uncompared' : null;
  const body = Object.entries(wanted).filter(([field]) => names.includes(field));
  const values = lacksValues ? possibleValues(before.config, whole.config) : new Set<string>();
  const changes = fieldChanges(shown, wanted, (text) => isSecret(text) || values.has(text));
  return { ...update, changes, body: Object.fromEntries(body) };
}

const webhookConfig = z.looseObject({ config: z.looseObject({ hasWebhookSecret: z.boolean() }) });

/** Whether responses omit secrets of the channel, or mask fields for this key. */
function hasSecrets(channel: KnownResource): boolean {
  const { type } = channel;
  if (hasHidden(channel.config)) return true;
  if (isServiceChannel(type)) return secretFieldsOf(type).length > 0;
  return webhookConfig.safeParse(channel).success;
}

/** The result of the service's comparison of channel configurations. */
export interface ChannelComparison {
  /** The ids in the file of channels whose configuration equals that of the service. */
  readonly same: ReadonlySet<string>;
  /** Whether the key may not compare them, since a comparison would allow to guess a secret. */
  readonly isForbidden: boolean;
}

/**
 * Compares the channels of the file with those of the service. Only the service can compare secrets,
 * which it never returns.
 *
 * @param onlyReads whether a read-only key must suffice
 * @param isUnfilled see PlanRequest: a config with names without values differs from that of the service
 * @throws VedetteError like ApiClient.send
 */
export async function compareChannels(
  { sections, fileName }: PlannedFile,
  known: KnownResources,
  {
    client,
    signal,
    onlyReads,
    isUnfilled,
  }: {
    readonly client: Pick<ApiClient, 'send'>;
    readonly signal: AbortSignal;
    readonly onlyReads: boolean;
    readonly isUnfilled: boolean;
  },
): Promise<ChannelComparison> {
  const entries = new Map(sections.alertChannels.map((entry) => [entry.id, entry]));
  const same = new Set<string>();
  const ids = knownIds({ sections, fileName }, known);
  for (const channel of known.alertChannels) {
    const entry = entries.get(String(ids.entryOf('alertChannels', channel.id)));
    if (entry === undefined || !hasSecrets(channel)) continue;
    if (entry.fields.type !== channel.type) continue;
    if (isUnfilled && hasNames(entry.fields.config)) continue;
    const path = `${RESOURCE_PATHS.alertChannels}/${channel.id}/compare`;
    const body = { config: entry.fields.config };
    const options = { body, signal, isRepeatable: true, mayBeForbidden: onlyReads };
    const reply = await client.send('POST', path, options);
    if (!reply.ok && reply.status === 403) return { same, isForbidden: true };
    // A service of the previous release cannot compare them; they are then written again.
    if (reply.ok && compared.safeParse(reply.json).data?.same === true) same.add(entry.id);
  }
  return { same, isForbidden: false };
}

const compared = z.looseObject({ same: z.boolean() });

/** The fields of a known resource that a file sets, with the ids of the file. */
export function comparedFields(section: Section, known: Fields, ids: ResourceIds): Fields | null {
  return fieldsOfResponse(section, known, (fields) => withEntryIds(fields, ids));
}

/** If the file has no list of channels, the service decides, as with checks. */
function leavesChannels(section: Section, { alertChannelSubscriptions: named }: Fields): boolean {
  return section === 'heartbeats' && named === undefined;
}

function endOf(
  section: Section,
  known: KnownResource,
  action: Exclude<UnlistedAction, 'keep'>,
): ResourceStep | null {
  const { id } = fileEntryOf(known.logicalId ?? String(known.id));
  const step = { section, id, serviceId: known.id };
  if (action === 'delete' || section !== 'heartbeats') return { kind: 'delete', ...step };
  if (known.activated !== true) return null;
  const changes = fieldChanges({ activated: true }, { activated: false });
  return { kind: 'update', ...step, before: null, changes, body: { activated: false } };
}
