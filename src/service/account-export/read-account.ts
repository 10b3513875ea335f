import type { EscalationStep } from '../../model/alerting/alert-settings.ts';
import type { ChannelView } from '../alerts/channels/alert-channels.ts';
import type { GroupView } from '../check-groups/check-groups.ts';
import type { CheckCriteria } from '../checks/check-selection.ts';
import type { CheckWithChannels } from '../checks/checks.ts';
import type { Features } from '../feature-types.ts';
import { type Page, WHOLE_LIST } from '../http/resources/paging.ts';
import type { StoredWindow } from '../maintenance-windows/maintenance-windows.ts';
import type { StoredSnippet } from '../snippets/snippets.ts';
import type { StoredService } from '../status-pages/services.ts';
import type { StoredPage } from '../status-pages/status-pages.ts';
import type { StoredVariable } from '../variables/variables.ts';

/** The features whose resources an export contains, or lists as omitted. */
export type ExportedFeatures = Pick<
  Features,
  | 'alertChannels'
  | 'alertSettings'
  | 'checkGroups'
  | 'checks'
  | 'clientCertificates'
  | 'maintenanceWindows'
  | 'privateLocations'
  | 'snippets'
  | 'statusPages'
  | 'statusPageServices'
  | 'variables'
>;

/** The resources of an account as its features list them. */
export interface AccountResources {
  readonly channels: readonly ChannelView[];
  /** null for none. */
  readonly escalationStep: EscalationStep | null;
  /** Heartbeats included. */
  readonly checks: readonly CheckWithChannels[];
  readonly groups: readonly GroupView[];
  readonly pages: readonly StoredPage[];
  readonly services: readonly StoredService[];
  readonly variables: readonly StoredVariable[];
  readonly windows: readonly StoredWindow[];
  /** Slugs of private locations. */
  readonly locations: readonly string[];
  /** Hosts of client certificates. */
  readonly certificates: readonly string[];
  readonly snippets: readonly StoredSnippet[];
}

const ALL_CHECKS: CheckCriteria = {
  tags: [],
  types: [],
  states: [],
  search: null,
  activated: null,
  groupId: null,
  location: null,
  silent: null,
  without: [],
};

export async function readAccount(
  features: ExportedFeatures,
  accountId: string,
): Promise<AccountResources> {
  const { alertChannels, alertSettings, checks, clientCertificates, checkGroups } = features;
  const { maintenanceWindows, privateLocations, snippets, statusPages } = features;
  const { statusPageServices, variables } = features;
  const anyTime = { startsAt: null, endsAt: null };
  const locations = await allPages((page) => privateLocations.list(accountId, page));
  const { escalationStep } = await alertSettings.read(accountId, accountId);
  const certificates = await allPages((page) => clientCertificates.list(accountId, page));
  return {
    checks: await allPages((page) => whole(checks.list(accountId, { ...ALL_CHECKS, ...page }))),
    channels: await allPages((page) => whole(alertChannels.list(accountId, page))),
    escalationStep,
    groups: await allPages((page) => checkGroups.list(accountId, page)),
    pages: await allPages((page) => whole(statusPages.list(accountId, page))),
    services: await allPages((page) => statusPageServices.list(accountId, page)),
    variables: await allPages((page) => variables.list(accountId, page)),
    windows: await allPages((page) => maintenanceWindows.list(accountId, { ...anyTime, ...page })),
    locations: locations.map(({ slug }) => slug),
    certificates: certificates.map(({ host }) => host),
    // Read after the checks and groups that run them: both may be created while the account is read.
    snippets: await allPages((page) => whole(snippets.list(accountId, page))),
  };
}

/** All entries of a list, page by page. */
async function allPages<T>(list: (page: Page) => Promise<readonly T[]>): Promise<readonly T[]> {
  const entries: T[] = [];
  for (let page = 1; ; page += 1) {
    const found = await list({ ...WHOLE_LIST, page });
    entries.push(...found);
    // A short page is not the last one: entries deleted while the list is read are missing from it.
    if (found.length === 0) return entries;
  }
}

async function whole<T>(slices: AsyncIterable<readonly T[]>): Promise<readonly T[]> {
  const entries: T[] = [];
  for await (const slice of slices) entries.push(...slice);
  return entries;
}
