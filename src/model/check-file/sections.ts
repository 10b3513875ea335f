import { z } from 'zod';
import { ALERT_CHANNEL_SHAPES } from '../alerting/alert-channel.ts';
import { escalationStepSchema, MAX_ESCALATION_CHANNELS } from '../alerting/alert-settings.ts';
import { checkGroupSchema } from '../check/check-group.ts';
import { heartbeatFields } from '../check/heartbeat.ts';
import { maintenanceWindowSchema } from '../schedule/maintenance-window.ts';
import { fileStatusPageSchema, statusPageServiceSchema } from '../status-page/status-page.ts';

/**
 * The sections of a check file besides its checks, in the order in which `vedette apply` writes them:
 * src/model/README.md, "Channels, groups, heartbeats, windows and status pages".
 */
export const SECTIONS = [
  'alertChannels',
  'groups',
  'heartbeats',
  'statusServices',
  'statusPages',
  'maintenanceWindows',
] as const;
export type Section = (typeof SECTIONS)[number];

/** What one entry of a section is, for messages. */
export const ENTRY_NOUNS: Readonly<Record<Section, string>> = {
  alertChannels: 'alert channel',
  groups: 'group',
  heartbeats: 'heartbeat',
  statusServices: 'status service',
  statusPages: 'status page',
  maintenanceWindows: 'maintenance window',
};

const SCHEMAS = {
  groups: checkGroupSchema,
  heartbeats: z.strictObject(heartbeatFields),
  statusServices: statusPageServiceSchema,
  statusPages: fileStatusPageSchema,
  maintenanceWindows: maintenanceWindowSchema,
} as const;

/**
 * The fields of an entry: those of the API. The id of the entry is its `logicalId`.
 *
 * @param type of an alert channel
 * @returns null for a type that does not exist
 */
export function entrySchemaOf(section: Section, type: unknown): z.ZodObject | null {
  if (section !== 'alertChannels') return SCHEMAS[section];
  const shape = Object.entries(ALERT_CHANNEL_SHAPES).find(([name]) => name === type);
  return shape?.[1] ?? null;
}

/** Fields of the API that an entry does not have, each with what to write in its place. */
export function replacedFields(section: Section): ReadonlyMap<string, string> {
  const replaced = new Map([['logicalId', 'is the id of the entry: leave it out']]);
  if (section === 'alertChannels') {
    replaced.set('subscriptions', 'belongs to the checks, as alertChannelSubscriptions');
  }
  return replaced;
}

/**
 * One entry: every default is filled in, and it names other entries by their ids in the file. Without
 * `alertChannelSubscriptions`, the service decides which channels are notified of a heartbeat.
 */
export interface FileEntry {
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The fields of a check that name other entries of the file; they replace the check's own. */
export interface CheckReferences {
  readonly groupId?: string;
  /**
   * All of them, if one names an entry of the file or a channel by its name; some may have the number of a channel
   * that is not in the file. Empty if the file has an empty list: then no channel is notified. Left out if the file
   * has no list, so that the service decides.
   */
  readonly alertChannelSubscriptions?: readonly NamedSubscription[];
}

/** `alertChannelName` is a name as `channelNameOf` returns it. */
export type NamedSubscription = { readonly activated: boolean } & (
  | { readonly alertChannelId: string | number }
  | { readonly alertChannelName: string }
);

const stepFields = escalationStepSchema.shape;

/** The escalation of the account's alerts, as a file has it. */
export const fileEscalationSchema = z.strictObject({
  minutes: stepFields.minutes,
  alertChannelIds: z
    .array(z.union([z.string().min(1), stepFields.alertChannelIds.element]))
    .min(1)
    .max(MAX_ESCALATION_CHANNELS)
    .superRefine(refuseRepeated)
    .describe(
      'The channels that get the alert then: their ids in this file, or their numbers in the service.',
    ),
});
export type FileEscalation = z.output<typeof fileEscalationSchema>;

function refuseRepeated(ids: readonly unknown[], context: z.RefinementCtx): void {
  for (const [index, id] of ids.entries()) {
    if (ids.indexOf(id) === index) continue;
    const message = 'must name another channel than the entries before it';
    context.addIssue({ code: 'custom', path: [index], message });
  }
}

/** What a check file defines besides checks. */
export interface FileResources {
  readonly sections: Readonly<Record<Section, readonly FileEntry[]>>;
  /** By check id. */
  readonly references: ReadonlyMap<string, CheckReferences>;
  /** null for no escalation; left out if the file has none, so that the service keeps its own. */
  readonly escalationStep?: FileEscalation | null;
}

export const NO_RESOURCES: FileResources = {
  sections: {
    alertChannels: [],
    groups: [],
    heartbeats: [],
    statusServices: [],
    statusPages: [],
    maintenanceWindows: [],
  },
  references: new Map(),
};
