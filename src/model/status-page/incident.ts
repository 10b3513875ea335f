import { z } from 'zod';
import { instantMsOf, instantSchema } from '../instant.ts';

/** An incident's updates are not more than these, by whomever they are made. */
export const MAX_INCIDENT_UPDATES = 500;

export const INCIDENT_STATUSES = ['INVESTIGATING', 'IDENTIFIED', 'MONITORING', 'RESOLVED'] as const;
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

/** The writable fields of an update: src/service/README.md, "Status pages and incidents". */
export const incidentUpdateSchema = z.strictObject({
  status: z.enum(INCIDENT_STATUSES).describe('How far the incident is.'),
  description: z.string().min(1).max(2000).describe('What people are told.'),
});
export type IncidentUpdate = z.infer<typeof incidentUpdateSchema>;

export const INCIDENT_IMPACTS = ['MAINTENANCE', 'MAJOR', 'MINOR'] as const;

const incidentFields = {
  name: z.string().min(1).max(255).describe('What people call the incident.'),
  impact: z.enum(INCIDENT_IMPACTS).describe('How severe it is.'),
  dashboardId: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe('The dashboard that shows it; null for none.'),
  startedAt: instantSchema
    .optional()
    .describe('When it becomes active; left out, the time of its creation.'),
  stoppedAt: instantSchema
    .nullable()
    .default(null)
    .describe('When it becomes inactive; null while that is open.'),
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
    .describe('What is told first, oldest first.'),
});
