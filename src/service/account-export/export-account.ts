import { ENTRY_NOUNS, type Section } from '../../model/check-file/sections.ts';
import { isFields } from '../../model/credentials/credential-fields.ts';
import { fieldsOfWindow } from '../../model/schedule/maintenance-window.ts';
import { VedetteError } from '../../runtime/errors.ts';
import type { ChannelView } from '../alerts/channels/alert-channels.ts';
import type { CheckWithChannels } from '../checks/checks.ts';
import { presentAlertSettings, presentCheck } from '../checks/present-check.ts';
import { presentHeartbeat } from '../heartbeats/present-heartbeat.ts';
import { type Entry, fileCheckOf, sectionEntryOf } from './entries.ts';
import { entryIds } from './entry-ids.ts';
import { ExportNotes } from './export-notes.ts';
import { fileConfigOf, PLACEHOLDER } from './placeholders.ts';
import { type AccountResources, type ExportedFeatures, readAccount } from './read-account.ts';
import { References } from './references.ts';
import { withSnippetScripts } from './snippet-scripts.ts';
import { fieldText, sectionText } from './yaml-text.ts';

/** An account as a check file. */
export interface AccountFile {
  /** YAML, without comments on what is missing. */
  readonly text: string;
  /** What the file does not contain, one sentence each. Includes names exactly as users entered them. */
  readonly missing: readonly string[];
}

/** The export contains what a key with the role `write` may see. */
const VIEWER = { mayWrite: true } as const;

/**
 * Exports everything of an account that a check file can contain. The order depends only on the ids in
 * the file.
 *
 * @throws VedetteError `usage` if the account has nothing that a check file can contain
 */
export async function exportAccount(
  features: ExportedFeatures,
  accountId: string,
): Promise<AccountFile> {
  const resources = await readAccount(features, accountId);
  const notes = new ExportNotes();
  noteMissing(resources, notes);
  const { variables, escalationStep, ...rest } = sectionsOf(resources, notes);
  if (Object.values(rest).every((entries) => entries.length === 0)) {
    throw new VedetteError(
      'usage',
      'REFUSED',
      'the account has no checks, channels, groups, heartbeats, status pages or maintenance windows: there is nothing to export',
    );
  }
  const texts = [
    sectionText('variables', variables),
    sectionText('alertChannels', rest.alertChannels),
    escalationStep === null ? '' : fieldText('escalationStep', escalationStep),
    sectionText('groups', rest.groups),
    sectionText('checks', rest.checks),
    sectionText('heartbeats', rest.heartbeats),
    sectionText('statusServices', rest.statusServices),
    sectionText('statusPages', rest.statusPages),
    sectionText('maintenanceWindows', rest.maintenanceWindows),
  ];
  return { text: texts.filter((text) => text !== '').join('\n'), missing: notes.lines() };
}

type Sections = Readonly<Record<Section | 'checks' | 'variables', readonly Entry[]>> & {
  /** null for none. */
  readonly escalationStep: Entry | null;
};

function sectionsOf(resources: AccountResources, notes: ExportNotes): Sections {
  const { channels, groups, services, pages, windows } = resources;
  const ids = {
    alertChannels: entryIds(channels.map(namedChannel), 'channel'),
    groups: entryIds(groups.map(namedFields), 'group'),
    statusServices: entryIds(services, 'service'),
    statusPages: entryIds(pages.map(namedFields), 'page'),
    maintenanceWindows: entryIds(
      windows.map(({ id, window }) => ({ id, ...window })),
      'window',
    ),
  };
  const entries = <One extends { readonly id: string | number }>(
    section: keyof typeof ids,
    all: readonly One[],
    fieldsOf: (one: One, id: string) => Entry,
  ): readonly Entry[] =>
    sorted(
      all.flatMap((one) => {
        const id = ids[section].get(one.id) ?? String(one.id);
        return accepted(section, id, fieldsOf(one, id), notes);
      }),
    );
  const alertChannels = entries('alertChannels', channels, ({ fields }, id) => {
    const { config, isChanged } = fileConfigOf(fields);
    if (isChanged) notes.add('channelSecret', id);
    return { ...fields, config };
  });
  const scripts = new Map(resources.snippets.map(({ id, fields }) => [id, fields.script]));
  const withScripts = (fields: Entry, owner: string): Entry =>
    withSnippetScripts(fields, scripts, () => notes.add('script', owner));
  const groupEntries = entries('groups', groups, ({ fields }, id) => {
    const { alertSettings, ...rest } = fields;
    // As `apply` sends them.
    const settings = alertSettings === null ? null : presentAlertSettings(alertSettings);
    return { ...withScripts(rest, `group ${id}`), alertSettings: settings };
  });
  const references = new References({
    ids,
    alertChannels,
    groups: groupEntries,
    noteLostTrigger: (id) => notes.add('trigger', id),
    noteLostChannel: (id) => notes.add('escalation', id),
  });
  const { checks, heartbeats } = checkEntries(resources.checks, references, withScripts, notes);
  const statusServices = entries('statusServices', services, (service) => ({
    ...service,
    checkIds: service.checkIds.filter((id) => checks.has(id)),
    heartbeatIds: service.heartbeatIds.filter((id) => heartbeats.has(id)),
  }));
  const statusPages = entries('statusPages', pages, ({ fields, cards }) => ({
    ...fields,
    cards: cards.map((card) => ({
      name: card.name,
      services: card.services.flatMap(({ id }) => ids.statusServices.get(id) ?? []),
    })),
  }));
  return {
    variables: variableEntries(resources),
    alertChannels,
    escalationStep: references.escalation(resources.escalationStep),
    groups: groupEntries,
    checks: [...checks.values()].map((check) => withKnownParents(check, checks)),
    heartbeats: [...heartbeats.values()],
    statusServices,
    statusPages,
    maintenanceWindows: entries('maintenanceWindows', windows, ({ window }) =>
      fieldsOfWindow(window),
    ),
  };
}

type EntriesById = ReadonlyMap<string, Entry>;

/** Removes dependencies on checks that were deleted or are not in the file. */
function withKnownParents(check: Entry, checks: EntriesById): Entry {
  const { dependsOn, ...rest } = check;
  if (!Array.isArray(dependsOn)) return check;
  const known = dependsOn.filter((id: unknown) => checks.has(String(id)));
  return known.length === 0 ? rest : { ...check, dependsOn: known };
}

/** The entries of checks and heartbeats, sorted by id. */
function checkEntries(
  views: readonly CheckWithChannels[],
  references: References,
  withScripts: (fields: Entry, owner: string) => Entry,
  notes: ExportNotes,
): { readonly checks: EntriesById; readonly heartbeats: EntriesById } {
  const checks = new Map<string, Entry>();
  const heartbeats = new Map<string, Entry>();
  for (const view of views.toSorted((one, other) => order(one.check.id, other.check.id))) {
    const { id, checkType } = view.check;
    if (checkType === 'HEARTBEAT') {
      const { heartbeat, ...shown } = presentHeartbeat(view, '', VIEWER);
      const fields = { ...shown, heartbeat: withoutPing(heartbeat) };
      for (const entry of accepted('heartbeats', id, fields, notes)) {
        heartbeats.set(id, references.inFile(entry));
        notes.add('heartbeat', id);
      }
      continue;
    }
    const found = fileCheckOf(withScripts(presentCheck(view, VIEWER), `check ${id}`));
    if (found === null) notes.add('invalid', `check ${id}`);
    else checks.set(id, references.inFile(found.entry));
    if (found?.hasPlaceholders === true) notes.add('checkSecret', id);
  }
  return { checks, heartbeats };
}

function withoutPing(heartbeat: unknown): unknown {
  if (!isFields(heartbeat)) return heartbeat;
  const { pingToken: _, pingUrl: __, ...rhythm } = heartbeat;
  return rhythm;
}

/** Returns the entry unless a file with it would be invalid, and notes the invalid ones. */
function accepted(
  section: Section,
  id: string,
  fields: Entry,
  notes: ExportNotes,
): readonly Entry[] {
  const entry = sectionEntryOf(section, id, fields);
  if (entry !== null) return [entry];
  notes.add('invalid', `${ENTRY_NOUNS[section]} ${id}`);
  return [];
}

function variableEntries({ variables }: AccountResources): readonly Entry[] {
  const entries = variables.map(({ key, value, secret }) =>
    secret ? { key, value: PLACEHOLDER, secret } : { key, value },
  );
  return entries.toSorted((one, other) => order(one.key, other.key));
}

function noteMissing(resources: AccountResources, notes: ExportNotes): void {
  for (const { key, secret, locked } of resources.variables) {
    if (secret) notes.add('secretVariable', key);
    else if (locked) notes.add('lockedVariable', key);
  }
  for (const slug of resources.locations) notes.add('location', slug);
  for (const host of resources.certificates) notes.add('certificate', host);
  for (const { fields } of resources.snippets) notes.add('snippet', fields.name);
  for (const { fields, hasPassword } of resources.pages) {
    if (hasPassword) notes.add('pagePassword', fields.name);
  }
}

function namedChannel({ id, fields }: ChannelView) {
  return { id, logicalId: fields.logicalId, name: channelName(fields) };
}

function channelName(target: ChannelView['fields']): string {
  switch (target.type) {
    case 'EMAIL':
      return target.config.address;
    case 'SLACK':
      return 'slack';
    default:
      return target.config.name;
  }
}

function namedFields<Id>({
  id,
  fields: { logicalId, name },
}: {
  readonly id: Id;
  readonly fields: { readonly logicalId: string | null; readonly name: string };
}) {
  return { id, logicalId, name };
}

function sorted(entries: readonly Entry[]): readonly Entry[] {
  return entries.toSorted((one, other) => order(String(one.id), String(other.id)));
}

/** Compares code units instead of using the locale, so the order is the same on every machine. */
function order(one: string, other: string): number {
  return one < other ? -1 : 1;
}
