import { createHash } from 'node:crypto';
import { DAY_MS } from '../../../model/time-units.ts';
import { htmlEscaped } from '../../../runtime/text/html-escaped.ts';
import { INCIDENT_STATUS_WORDS, instantText } from '../../../web/status/texts.tsx';
import type { RequestedPage } from '../site/requested-page.ts';
import { affectedServices } from '../state/affected-services.ts';
import type { IncidentOnPage, MaintenanceOnPage, PageState } from '../state/page-state.ts';

/** An incident or a maintenance in a feed. */
export interface FeedEntry {
  /** A URN that never changes. */
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly category: string;
  /** Epoch milliseconds. */
  readonly publishedMs: number;
  readonly updatedMs: number;
  readonly html: string;
}

/** The content of a feed in both formats. */
export interface Feed {
  /** A URN that never changes, even if the name or address of the page does. */
  readonly id: string;
  readonly title: string;
  readonly subtitle: string;
  readonly url: string;
  /** When an entry last changed; without entries, the day of the state. */
  readonly updatedMs: number;
  /** The most recently updated first, at most MAX_ENTRIES. */
  readonly entries: readonly FeedEntry[];
}

const MAX_ENTRIES = 50;
/** Limit for the updates in one entry; older ones are only on the page. */
const MAX_TEXT_CHARS = 10_000;

export function feedOf({ page, base }: RequestedPage, state: PageState): Feed {
  const names = new Map(
    state.cards.flatMap(({ services }) => services.map(({ id, name }) => [id, name] as const)),
  );
  const entries = [
    ...[...state.incidents, ...state.pastIncidents].map((incident) =>
      incidentEntry(incident, names, base),
    ),
    ...state.maintenance.map((window) =>
      maintenanceEntry(window, names, { base, pageId: page.id }),
    ),
  ]
    .toSorted((one, other) => other.updatedMs - one.updatedMs)
    .slice(0, MAX_ENTRIES);
  return {
    id: `urn:uuid:${page.id}`,
    title: page.fields.name,
    subtitle: page.fields.description ?? `Incidents and maintenance of ${page.fields.name}`,
    url: base,
    updatedMs: entries[0]?.updatedMs ?? Math.floor(state.readAtMs / DAY_MS) * DAY_MS,
    entries,
  };
}

type Names = ReadonlyMap<string, string>;

function incidentEntry(incident: IncidentOnPage, names: Names, base: string): FeedEntry {
  const { id, name, severity, status, startedAtMs, updates } = incident;
  return {
    id: `urn:uuid:${id}`,
    // Feed readers show titles first, and many show only the title of a changed entry.
    title: status === 'RESOLVED' ? `${INCIDENT_STATUS_WORDS.RESOLVED}: ${name}` : name,
    url: `${base}/incidents/${id}`,
    category: severity,
    publishedMs: startedAtMs,
    updatedMs: Math.max(startedAtMs, ...updates.map(({ atMs }) => atMs)),
    html: affected(incident.serviceIds, names) + updatesHtml(updates),
  };
}

/** The newest updates, as many as the bound of an entry allows, and at least one. */
function updatesHtml(updates: IncidentOnPage['updates']): string {
  let chars = 0;
  const parts: string[] = [];
  for (const { status, description, atMs } of updates) {
    chars += description.length;
    if (parts.length > 0 && chars > MAX_TEXT_CHARS) {
      parts.push('<p>Earlier updates are on the page.</p>');
      break;
    }
    const text = htmlEscaped(description).replaceAll(/\r\n?|\n/g, '<br>');
    parts.push(
      `<p><strong>${INCIDENT_STATUS_WORDS[status]}</strong>, ${instantText(atMs)}<br>${text}</p>`,
    );
  }
  return parts.join('');
}

function maintenanceEntry(
  window: MaintenanceOnPage,
  names: Names,
  { base, pageId }: { readonly base: string; readonly pageId: string },
): FeedEntry {
  const { id, name, description, startMs, endMs, announcedMs, serviceIds } = window;
  const state = window.isRunning ? 'Running' : 'Planned';
  const times = `<p>${state}: ${instantText(startMs)} to ${instantText(endMs)}</p>`;
  const text = description === null ? '' : `<p>${htmlEscaped(description)}</p>`;
  return {
    // Each occurrence of a window is a separate entry.
    id: `urn:uuid:${uuidOf(`${pageId} ${id} ${startMs}`)}`,
    title: `Maintenance: ${name}`,
    url: base,
    category: 'MAINTENANCE',
    publishedMs: announcedMs,
    updatedMs: Math.max(announcedMs, window.changedAtMs, window.isRunning ? startMs : 0),
    html: times + text + affected(serviceIds, names),
  };
}

function affected(serviceIds: readonly string[], names: Names): string {
  const { names: named, rest } = affectedServices(serviceIds, names);
  const text = [named.join(', '), rest].filter((part) => part !== '').join(' ');
  return text === '' ? '' : `<p>Affected: ${htmlEscaped(text)}</p>`;
}

/** RFC 9562 5.8: a UUID of our own form, the same for the same text. */
function uuidOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map(([from, to]) => hex.slice(from, to))
    .join('-');
}
