import { z } from 'zod';
import { INCIDENT_STATUSES } from '../../../model/incident/dashboard-incident.ts';
import {
  INCIDENT_SEVERITIES,
  SERVICE_STATES,
} from '../../../model/incident/status-page-incident.ts';
import type { RequestedPage } from '../site/requested-page.ts';
import type { PageState } from '../state/page-state.ts';

const condition = z.enum([...SERVICE_STATES, 'MAINTENANCE', 'UNKNOWN']);
const instant = z.iso.datetime();
const serviceIds = z.array(z.string());

/** The body of /summary.json. Fields may be added to a version; other changes need a new one. */
export const pageSummarySchema = z.strictObject({
  version: z.literal(1),
  page: z.strictObject({
    name: z.string(),
    description: z.string().nullable(),
    url: z.url().describe('The address of the page.'),
  }),
  condition: condition.describe('The worst of its services and open incidents.'),
  cards: z.array(
    z.strictObject({
      name: z.string(),
      services: z.array(
        z.strictObject({
          id: z.string(),
          name: z.string(),
          condition,
          since: instant.nullable().describe('null if unknown, and while OPERATIONAL.'),
          availability: z
            .number()
            .min(0)
            .max(1)
            .nullable()
            .describe('Over the last 90 days; null if the page does not show it, or nothing ran.'),
          responseTimeMs: z.number().nullable(),
        }),
      ),
    }),
  ),
  incidents: z
    .array(
      z.strictObject({
        id: z.string(),
        name: z.string(),
        severity: z.enum(INCIDENT_SEVERITIES),
        status: z.enum(INCIDENT_STATUSES),
        serviceIds,
        startedAt: instant,
        url: z.url().describe('Where readers see it.'),
        latestUpdate: z
          .strictObject({ status: z.enum(INCIDENT_STATUSES), description: z.string(), at: instant })
          .nullable(),
      }),
    )
    .describe('The open ones, newest first.'),
  maintenance: z
    .array(
      z.strictObject({
        id: z.string(),
        name: z.string(),
        description: z.string().nullable(),
        startsAt: instant,
        endsAt: instant,
        isRunning: z.boolean(),
        serviceIds,
      }),
    )
    .describe('Running, or starting within 14 days; earliest first.'),
});
export type PageSummaryDocument = z.infer<typeof pageSummarySchema>;

export function pageSummaryOf(
  { page, base }: RequestedPage,
  state: PageState,
): PageSummaryDocument {
  const { name, description } = page.fields;
  return {
    version: 1,
    page: { name, description, url: base },
    condition: state.condition,
    cards: state.cards.map((card) => ({
      name: card.name,
      services: card.services.map((service) => ({
        id: service.id,
        name: service.name,
        condition: service.condition,
        since: service.sinceMs === null ? null : isoOf(service.sinceMs),
        availability: service.history?.availability ?? null,
        responseTimeMs: service.responseTimeMs,
      })),
    })),
    incidents: state.incidents.map(({ updates: [latest], ...incident }) => ({
      id: incident.id,
      name: incident.name,
      severity: incident.severity,
      status: incident.status,
      serviceIds: [...incident.serviceIds],
      startedAt: isoOf(incident.startedAtMs),
      url: `${base}/incidents/${incident.id}`,
      latestUpdate:
        latest === undefined
          ? null
          : { status: latest.status, description: latest.description, at: isoOf(latest.atMs) },
    })),
    maintenance: state.maintenance.map(({ startMs, endMs, ...window }) => ({
      id: window.id,
      name: window.name,
      description: window.description,
      startsAt: isoOf(startMs),
      endsAt: isoOf(endMs),
      isRunning: window.isRunning,
      serviceIds: [...window.serviceIds],
    })),
  };
}

function isoOf(atMs: number): string {
  return new Date(atMs).toISOString();
}
