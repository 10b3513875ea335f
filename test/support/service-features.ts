import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/runtime/clock.ts';
import { openArtifactStore } from '../../src/service/artifacts/artifacts-config.ts';
import { createLocationWake } from '../../src/service/features/assignment/location-wake.ts';
import { createFeatures, type FeatureParts, type Features } from '../../src/service/features.ts';
import type { Store } from '../../src/service/store/port.ts';
import { silentLog } from './databases.ts';

export interface TestFeatures {
  readonly features: Features;
  /** To be called before the store is closed. */
  close(): Promise<void>;
}

/** All that the service does, on this store; nothing works by itself until `features.work`. */
export async function testFeatures(
  store: Store,
  clock: Clock,
  own: Partial<FeatureParts> = {},
): Promise<TestFeatures> {
  const log = silentLog();
  const contents = await openArtifactStore({ s3: null, dataDir: null }, { clock, log });
  const wake = await createLocationWake(store, clock);
  const config = { leaseMs: 15_000, retentionDays: 30 };
  return {
    features: createFeatures({
      store,
      clock,
      log,
      ids: randomUUID,
      wake,
      contents,
      config,
      ...own,
    }),
    async close() {
      await wake.close();
      await contents.close();
    },
  };
}
