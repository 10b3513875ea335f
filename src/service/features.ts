import type { Clock } from '../runtime/clock.ts';
import { type ApiKeys, createApiKeys } from './features/api-keys.ts';
import { type CheckGroups, createCheckGroups } from './features/check-groups.ts';
import { type Checks, createChecks } from './features/checks.ts';
import { createLocationKeys, type LocationKeys } from './features/location-keys.ts';
import { createPrivateLocations, type PrivateLocations } from './features/private-locations.ts';
import type { Store } from './store/port.ts';

/** What the service does, without HTTP. */
export interface Features {
  readonly apiKeys: ApiKeys;
  readonly checkGroups: CheckGroups;
  readonly checks: Checks;
  readonly locationKeys: LocationKeys;
  readonly privateLocations: PrivateLocations;
}

export interface FeatureParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
}

export function createFeatures(parts: FeatureParts): Features {
  return {
    apiKeys: createApiKeys(parts),
    checkGroups: createCheckGroups(parts),
    checks: createChecks(parts),
    locationKeys: createLocationKeys(parts),
    privateLocations: createPrivateLocations(parts),
  };
}
