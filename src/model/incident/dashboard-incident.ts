import { z } from 'zod';
import { instantMsOf, instantSchema } from '../instant.ts';

/** Maximum number of updates of one incident. */
export const MAX_INCIDENT_UPDATES = 500;

export const INCIDENT_STATUSES = ['INVESTIGATING', 'IDENTIFIED', 'MONITORING', 'RESOLVED'] as const;
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

/** The writable fields of an update: src/service/README.md, "Status pages and incidents". */
export const incidentUpdateSchema = z.strictObject({
  status: z.enum(INCIDENT_STATUSES).describe('The status of the incident.'),
  description: z.string().min(1).max(2000).describe('The text that readers see.'),
});
export type IncidentUpdate = z.infer<typeof incidentUpdateSchema>;

export const INCIDENT_IMPACTS = ['MAINTENANCE', 'MAJOR', 'MINOR'] as const;

const incidentFields = {
  name: z.string().min(1).max(255).describe('The name of the incident.'),
  impact: z.enum(INCIDENT_IMPACTS).describe('How severe it is.'),
  dashboardId: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe('The dashboard that shows it; null for none.'),
  startedAt: instantSchema
    .optional()
    .describe('When the incident becomes active. If omitted, when it is created.'),
  stoppedAt: instantSchema
    .nullable()
    .default(null)
    .describe('When the incident becomes inactive; null while that is unknown.'),
};

/**
 * The fields of an incident (src/service/README.md, "Status pages and incidents") that an update
 * may change.
 */
export const incidentChangesSchema = z
  .strictObject(incidentFields)
  .superRefine(({ startedAt, stoppedAt }, context) => {
    const [startMs, stopMs] = [startedAt, stoppedAt].map((text) => instantMsOf(text ?? ''));
    if (typeof startMs !== 'number' || typeof stopMs !== 'number' || startMs <= stopMs) return;
    context.addIssue({
      code: 'custom',
      path: ['stoppedAt'],
      message: 'must not be before startedAt',
    });
  });
export type IncidentFields = z.infer<typeof incidentChangesSchema>;

/** An incident as it is created. */
export const incidentSchema = z.strictObject({
  ...incidentFields,
  incidentUpdates: z
    .array(incidentUpdateSchema)
    .max(MAX_INCIDENT_UPDATES)
    .default([])
    .describe('The first updates, oldest first.'),
});
