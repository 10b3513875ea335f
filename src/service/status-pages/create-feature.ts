import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Allowance } from '../accounts/allowance.ts';
import type { Store } from '../database/store.ts';
import {
  createDashboardIncidents,
  type DashboardIncidents,
} from '../incidents/dashboard-incidents.ts';
import { createIncidentTrigger, type IncidentTrigger } from '../incidents/incident-trigger.ts';
import {
  createStatusPageIncidents,
  type StatusPageIncidents,
} from '../incidents/status-page-incidents.ts';
import type { Passwords } from '../users/password-hashing.ts';
import type { PictureSource } from './pictures/fetch-picture.ts';
import { createPagePictures, type PagePictures } from './pictures/pictures.ts';
import { createStatusPageServices, type StatusPageServices } from './services.ts';
import type { DomainRules } from './site/domain-rules.ts';
import { createStatusPages, type StatusPages } from './status-pages.ts';

export interface StatusPageFeatureParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly allowance: Allowance;
  readonly passwords: Passwords;
  /** Whole days for which results are kept, and all incidents that checks opened after they are resolved. */
  readonly retentionDays: number;
  readonly pictureSource: PictureSource;
  readonly domainRules: DomainRules;
}

export interface StatusPageFeatures {
  readonly incidents: DashboardIncidents;
  readonly incidentTrigger: IncidentTrigger;
  readonly pagePictures: PagePictures;
  readonly statusPageIncidents: StatusPageIncidents;
  readonly statusPageServices: StatusPageServices;
  readonly statusPages: StatusPages;
}

export function createStatusPageFeatures(parts: StatusPageFeatureParts): StatusPageFeatures {
  const pagePictures = createPagePictures(parts);
  return {
    incidents: createDashboardIncidents(parts),
    incidentTrigger: createIncidentTrigger(parts),
    pagePictures,
    statusPageIncidents: createStatusPageIncidents(parts),
    statusPageServices: createStatusPageServices(parts),
    statusPages: createStatusPages({ ...parts, pagePictures }),
  };
}
