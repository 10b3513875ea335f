import { z } from 'zod';
import {
  type AlertSettings,
  alertSettingsSchema,
  wholeAlertSettings,
} from '../../model/alerting/alert-settings.ts';
import {
  maintenanceWindowOf,
  maintenanceWindowSchema,
  pauseOf,
} from '../../model/schedule/maintenance-window.ts';
import type { Pause } from '../../model/schedule/pause.ts';
import type { ApiClient } from '../service-api/api-client.ts';
import { firstPages, getOfCheck, readAs, readTolerantly } from '../service-api/read-responses.ts';
import { type ExplainedAgent, explainedAgents, shownAgentSchema } from './explained-agents.ts';
import { type NextSlot, nextSlots } from './next-slots.ts';
import { channelsSetting, readRecipients } from './recipients.ts';
import { effectiveSettings, type Setting } from './settings.ts';
import {
  checkSchema,
  groupSchema,
  privateLocationsOf,
  type ShownCheck,
  type ShownGroup,
  type Subject,
} from './subject.ts';

const SLOTS = 5;
/** Maximum number of locations whose agents are read. */
const MAX_LOCATIONS = 20;
/** Maximum number of pages of locations, and of maintenance windows, that are read. */
const MAX_PAGES = 10;

const accountSchema = z.array(z.object({ id: z.string() })).min(1);
const locationSchema = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  state: z.string(),
});

export interface ExplainedLocation {
  readonly slug: string;
  readonly name: string;
  /** `online`, `silent`, `idle` or `new` (src/service/README.md, "Private locations and agents"). */
  readonly state: string;
  readonly agents: readonly ExplainedAgent[];
}

export interface CheckExplanation {
  readonly check: Pick<ShownCheck, 'id' | 'name' | 'checkType'>;
  /** null if the check is in no group. */
  readonly groupName: string | null;
  readonly settings: readonly Setting[];
  /** None if it does not run. */
  readonly slots: readonly NextSlot[];
  readonly locations: readonly ExplainedLocation[];
  /** The number of further private locations of the check. */
  readonly moreLocations: number;
}

/**
 * Reads how a check runs and which settings cause this.
 *
 * @param nowMs the time after which slots are listed; epoch milliseconds
 * @throws VedetteError of kind `usage` where there is no such check; else as ApiClient.get
 */
export async function readExplanation(
  client: Pick<ApiClient, 'get' | 'send'>,
  checkId: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<CheckExplanation> {
  const subject = await readSubject(client, checkId, signal);
  const recipients = await readRecipients(client, checkId, signal);
  const known = await listOf(client, '/v1/private-location-statuses', locationSchema, signal);
  const pauses = await readPauses(client, signal);
  const slugs = new Set(known.map(({ slug }) => slug));
  const { check, group } = subject;
  // A heartbeat is pinged.
  const own = check.frequency === undefined ? [] : privateLocationsOf(subject);
  const shown = known.filter(({ slug }) => own.includes(slug)).slice(0, MAX_LOCATIONS);
  const locations: ExplainedLocation[] = [];
  for (const { id, slug, name, state } of shown) {
    const path = `/v1/private-locations/${encodeURIComponent(id)}/agents`;
    const agents = await listOf(client, path, shownAgentSchema, signal);
    locations.push({ slug, name, state, agents: explainedAgents(subject, agents) });
  }
  return {
    check: { id: check.id, name: check.name, checkType: check.checkType },
    groupName: group?.name ?? null,
    settings: [
      ...effectiveSettings(subject),
      ...(recipients === null ? [] : [channelsSetting(check, recipients)]),
    ],
    slots: nextSlots(subject, slugs, pauses, { nowMs, count: SLOTS }),
    locations,
    moreLocations: own.length - locations.length,
  };
}

async function readSubject(
  client: Pick<ApiClient, 'get' | 'send'>,
  checkId: string,
  signal: AbortSignal,
): Promise<Subject> {
  const shown = await getOfCheck(client, checkId, (id) => `/v1/checks/${id}`, signal);
  const check = readAs(checkSchema, shown, 'check');
  const group: ShownGroup | null =
    check.groupId === null
      ? null
      : readAs(groupSchema, await client.get(`/v1/check-groups/${check.groupId}`, signal), 'group');
  const accounts = readAs(accountSchema, await client.get('/v1/accounts', signal), 'account');
  const path = `/v1/accounts/${accounts[0]?.id}/alert-settings`;
  return {
    check,
    group,
    alertSettings: {
      own: alertSettingsIn(check.alertSettings),
      group: isSet(group?.alertSettings) ? alertSettingsIn(group?.alertSettings) : null,
      account: alertSettingsIn(await client.get(path, signal)),
    },
  };
}

function isSet(value: unknown): boolean {
  return value !== null && value !== undefined;
}

function alertSettingsIn(json: unknown): AlertSettings {
  return wholeAlertSettings(readTolerantly(alertSettingsSchema, json, 'alert settings'));
}

async function readPauses(
  client: Pick<ApiClient, 'get'>,
  signal: AbortSignal,
): Promise<readonly Pause[]> {
  const windows = await listOf(client, '/v1/maintenance-windows', z.unknown(), signal);
  return windows.flatMap((window) => {
    const fields = readTolerantly(maintenanceWindowSchema, window, 'maintenance window');
    return pauseOf(maintenanceWindowOf(fields)) ?? [];
  });
}

async function listOf<Entry>(
  client: Pick<ApiClient, 'get'>,
  path: string,
  schema: z.ZodType<Entry>,
  signal: AbortSignal,
): Promise<readonly Entry[]> {
  const list = z.array(schema);
  const read = (json: unknown): readonly Entry[] => readAs(list, json, `list at ${path}`);
  return (await firstPages(client, path, read, { maxPages: MAX_PAGES, signal })).entries;
}
