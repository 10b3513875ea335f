import { z } from 'zod';
import { instantSchema } from '../instant.ts';
import { serviceIdSchema } from '../status-page/status-page.ts';
import { incidentUpdateSchema, MAX_INCIDENT_UPDATES } from './dashboard-incident.ts';

/** Worst first. */
export const INCIDENT_SEVERITIES = ['CRITICAL', 'MAJOR', 'MEDIUM', 'MINOR'] as const;
export type IncidentSeverity = (typeof INCIDENT_SEVERITIES)[number];

const MAX_SERVICES = 100;
const MAX_POST_MORTEM_BYTES = 64 * 1024;

/** The writable fields of an update of an incident of status pages. */
export const pageIncidentUpdateSchema = incidentUpdateSchema.extend({
  publicIncidentUpdateDate: instantSchema
    .nullable()
    .default(null)
    .describe('The time that readers see; null for the time of creation.'),
  notifySubscribers: z
    .boolean()
    .default(false)
    .describe('Whether the subscribers of the page are notified.'),
});
export type PageIncidentUpdate = z.infer<typeof pageIncidentUpdateSchema>;

/** The fields of an incident of status pages that an update may change. */
export const pageIncidentChangesSchema = z.strictObject({
  name: z.string().min(1).max(255).describe('The name of the incident.'),
  severity: z.enum(INCIDENT_SEVERITIES).describe('How severe it is.'),
  services: z
    .array(serviceIdSchema)
    .max(MAX_SERVICES)
    .refine((ids) => new Set(ids).size === ids.length, { error: 'must name each service once' })
    .default([])
    .describe(
      'The ids of the affected services. The incident appears on the pages that contain one of them.',
    ),
  isDraft: z
    .boolean()
    .default(false)
    .describe(
      'Whether only the account sees the incident: on no page, in no state, and nobody is notified. Once published, it cannot become a draft again.',
    ),
  postMortem: z
    .string()
    .min(1)
    .refine((text) => Buffer.byteLength(text) <= MAX_POST_MORTEM_BYTES, {
      error: 'must have at most 64 KiB',
    })
    .nullable()
    .default(null)
    .describe(
      'What happened and why, in Markdown of at most 64 KiB. Readers see it once the incident is resolved.',
    ),
});
export type PageIncidentFields = z.infer<typeof pageIncidentChangesSchema>;

/** An incident of status pages as it is created. */
export const pageIncidentSchema = pageIncidentChangesSchema.extend({
  incidentUpdates: z
    .array(pageIncidentUpdateSchema)
    .min(1)
    .max(MAX_INCIDENT_UPDATES)
    .describe('The first updates, oldest first; at least one.'),
});

/** The state of a service by the open incidents that name it. Best first. */
export const SERVICE_STATES = [
  'OPERATIONAL',
  'DEGRADED',
  'PARTIAL_OUTAGE',
  'MAJOR_OUTAGE',
] as const;
export type ServiceState = (typeof SERVICE_STATES)[number];

/**
 * What readers of a page see of a service. It depends on open incidents, checks, heartbeats and
 * maintenance windows: src/service/README.md, "Conditions of services".
 */
export type ServiceCondition = ServiceState | 'MAINTENANCE' | 'UNKNOWN';

const STATE_OF: Readonly<Record<IncidentSeverity, ServiceState>> = {
  CRITICAL: 'MAJOR_OUTAGE',
  MAJOR: 'PARTIAL_OUTAGE',
  MEDIUM: 'DEGRADED',
  MINOR: 'DEGRADED',
};

/** The state of a service with open incidents of these severities. */
export function stateUnder(severities: readonly IncidentSeverity[]): ServiceState {
  const states = severities.map((severity) => SERVICE_STATES.indexOf(STATE_OF[severity]));
  return SERVICE_STATES[Math.max(0, ...states)] ?? 'OPERATIONAL';
}
