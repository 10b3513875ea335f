import { z } from 'zod';
import type { AlertSettings } from '../../model/alerting/alert-settings.ts';
import { retryStrategySchema } from '../../model/check/retry.ts';
import { FREQUENCIES } from '../../model/enums.ts';

const slugs = z.array(z.string()).nullable();

/** A check as the API shows it, with every default filled in. */
export const checkSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  checkType: z.string(),
  activated: z.boolean(),
  muted: z.boolean(),
  tags: z.array(z.string()),
  groupId: z.number().nullable(),
  alertSettings: z.unknown(),
  useGlobalAlertSettings: z.boolean(),
  alertChannelSubscriptions: z.array(z.looseObject({ alertChannelId: z.number() })).default([]),
  // A heartbeat has none of these.
  frequency: z.literal(FREQUENCIES).optional(),
  /** Omitted if the id decides. */
  frequencyOffset: z.int().optional(),
  runParallel: z.boolean().default(false),
  locations: slugs.default(null),
  privateLocations: slugs.default(null),
  doubleCheck: z.boolean().default(true),
  /** Omitted if `doubleCheck` decides. */
  retryStrategy: retryStrategySchema.optional(),
});
export type ShownCheck = z.output<typeof checkSchema>;

export const groupSchema = z.looseObject({
  name: z.string(),
  activated: z.boolean(),
  muted: z.boolean(),
  tags: z.array(z.string()),
  privateLocations: slugs,
  alertSettings: z.unknown(),
  useGlobalAlertSettings: z.boolean(),
});
export type ShownGroup = z.output<typeof groupSchema>;

/** Everything that decides how a check runs. */
export interface Subject {
  readonly check: ShownCheck;
  /** null if the check is in no group. */
  readonly group: ShownGroup | null;
  readonly alertSettings: {
    readonly own: AlertSettings;
    /** null if the group has none. */
    readonly group: AlertSettings | null;
    readonly account: AlertSettings;
  };
}

export function isActivated({ check, group }: Subject): boolean {
  return check.activated && group?.activated !== false;
}

/** The tags of the check and of its group. */
export function tagsOf({ check, group }: Subject): readonly string[] {
  return [...new Set([...check.tags, ...(group?.tags ?? [])])];
}

/** The private locations in which a check runs: its group's, if it names any, replace its own. */
export function privateLocationsOf({ check, group }: Subject): readonly string[] {
  const ofGroup = group?.privateLocations ?? [];
  return [...new Set(ofGroup.length > 0 ? ofGroup : (check.privateLocations ?? []))];
}
