import type { IncidentStatus } from '../../model/incident/dashboard-incident.ts';
import {
  type PageIncidentFields,
  pageIncidentChangesSchema,
  pageIncidentSchema,
  pageIncidentUpdateSchema,
} from '../../model/incident/status-page-incident.ts';
import type { Logger } from '../../runtime/logger.ts';
import { everyHour } from '../database/every-hour.ts';
import { removeInBatches, removePastRetention } from '../database/retention.ts';
import { conflict, invalid } from '../errors.ts';
import { firstMonth } from '../status-pages/history/months.ts';
import { requireServices } from '../status-pages/require-services.ts';
import { announceIncident, announceUpdates } from '../status-pages/subscriptions/shared.sql.ts';
import { RECOVERED_TEXT } from './incident-trigger.ts';
import {
  createIncidents,
  type IncidentKind,
  type Incidents,
  type IncidentsParts,
} from './incidents.ts';
import {
  publishUpdates,
  replaceIncidentServices,
  type StoredPageFields,
} from './status-page-incidents.sql.ts';
import { PAGE_TABLES } from './tables.sql.ts';
import { deleteManyIncidentsOfChecks, deleteOldIncidentsOfChecks } from './trigger.sql.ts';

export type { StoredPageIncident } from './status-page-incidents.sql.ts';

export interface StatusPageIncidentsParts extends IncidentsParts {
  readonly log: Logger;
  /** Whole days, as of the results. */
  readonly retentionDays: number;
}

/** Incidents of services that status pages show. */
export interface StatusPageIncidents extends Incidents<StoredPageFields> {
  /**
   * Deletes incidents that checks opened about every hour until the signal aborts: those that are older than
   * the history of pages, and those beyond the limit of a check (src/service/README.md, "History"). Keeps
   * incidents that people opened or edited. Logs how many it deletes, and failures.
   */
  maintain(signal: AbortSignal): Promise<void>;
}

/** Bounds how long a statement takes: the updates of an incident are deleted with it. */
const ROWS_AT_ONCE = 500;
/** Limit per check: one that fails and recovers all the time must not fill the database. */
const KEPT_INCIDENTS = 1_000;

export const pageIncidents = {
  tables: PAGE_TABLES,
  schemas: {
    incident: pageIncidentSchema,
    changes: pageIncidentChangesSchema,
    update: pageIncidentUpdateSchema,
  },
  responseOnly: ['lastUpdateStatus', 'incidentUpdates', 'created_at', 'updated_at'],
  minUpdates: 1,
  bodyOf: ({ name, severity, services, isDraft, postMortem }) => ({
    name,
    severity,
    services: [...services],
    isDraft,
    postMortem,
  }),
  columnsOf: ({ name, severity, isDraft, postMortem }) => ({
    name,
    severity,
    is_draft: isDraft,
    post_mortem: postMortem,
  }),
  columnsOfNew: (updates) => ({
    last_update_status: updates.at(-1)?.status ?? ('INVESTIGATING' satisfies IncidentStatus),
  }),
  announce: announceUpdates,
  async saveServices(tx, { accountId, id }, { services }) {
    const problems = await requireServices(tx, accountId, [{ path: ['services'], ids: services }]);
    if (problems.length > 0) throw invalid(problems);
    await replaceIncidentServices(tx, { accountId, id, serviceIds: services });
  },
  async updated(tx, key, { before, after, atMs }) {
    if (before.isDraft === after.isDraft) return;
    if (after.isDraft) {
      throw conflict(
        'The incident is published: readers have seen it, so it cannot become a draft again. Resolve it, or delete it',
      );
    }
    await publishUpdates(tx, { ...key, atMs });
    await announceIncident(tx, { ...key, atMs });
  },
} satisfies IncidentKind<StoredPageFields, PageIncidentFields>;

export function createStatusPageIncidents(parts: StatusPageIncidentsParts): StatusPageIncidents {
  const { store, clock, log } = parts;

  async function removeOld(signal: AbortSignal): Promise<void> {
    let removed = 0;
    const counted = async (removing: Promise<number>): Promise<number> => {
      const rows = await removing;
      removed += rows;
      return rows;
    };
    const beforeMs = firstMonth(clock.wallMs()).startMs;
    const untouched = { recoveredText: RECOVERED_TEXT };
    await removeInBatches(
      ROWS_AT_ONCE,
      (limit) => counted(deleteOldIncidentsOfChecks(store, { beforeMs, limit, ...untouched })),
      signal,
    );
    await removePastRetention(
      parts,
      ROWS_AT_ONCE,
      (old) =>
        counted(deleteManyIncidentsOfChecks(store, { ...old, keep: KEPT_INCIDENTS, ...untouched })),
      signal,
    );
    if (removed > 0) log.info({ removed }, 'removed old incidents that checks opened');
  }

  return {
    ...createIncidents<StoredPageFields, PageIncidentFields>(parts, pageIncidents),

    async maintain(signal) {
      await everyHour(
        parts,
        'incidents past their retention could not be removed',
        () => removeOld(signal),
        signal,
      );
    },
  };
}
