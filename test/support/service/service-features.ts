import { randomBytes, randomUUID } from 'node:crypto';
import { UNLIMITED } from '../../../src/model/account/plan.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import { createSecretBox, KEY_BYTES } from '../../../src/runtime/secret-box.ts';
import { createLocationWake } from '../../../src/service/agents/assignment/location-wake.ts';
import { createCheckVariables } from '../../../src/service/checks/variables/check-variables.ts';
import type { Store } from '../../../src/service/database/store.ts';
import type { FeatureParts, Features } from '../../../src/service/feature-types.ts';
import { createFeatures } from '../../../src/service/features.ts';
import { openArtifactStore } from '../../../src/service/object-store/artifacts-config.ts';
import { createProxyPasswords } from '../../../src/service/private-locations/proxy-passwords.ts';
import {
  createSecretScrubbing,
  type SecretScrubbing,
} from '../../../src/service/secrets/secret-scrubbing.ts';
import type { PictureSource } from '../../../src/service/status-pages/pictures/fetch-picture.ts';
import { createPasswords } from '../../../src/service/users/password-hashing.ts';
import { silentLog } from '../database/silent-store.ts';

export interface TestFeatures {
  readonly features: Features;
  /** Call it before closing the store. */
  close(): Promise<void>;
}

/** One for all services of a test process, like a database shared by replicas. */
export const TEST_SECRETS = createSecretBox([randomBytes(KEY_BYTES)]);

/** The lowest cost: the tests make many passwords. */
export const TEST_PASSWORDS = createPasswords({ ln: 1, r: 8, p: 1 });

/** Only tests of pictures need a host that serves them. */
const A_PICTURE = {
  type: 'image/png',
  width: 2,
  height: 1,
  bytes: Buffer.from('a picture'),
} as const;
const TEST_PICTURES: PictureSource = {
  fetch: async () => ({ ok: true, picture: A_PICTURE }),
  close: async () => {},
};

/** For checks whose states a test does not read. */
export const NONE_OUTDATED = { refresh: async (): Promise<void> => {} };

/** Opens what TEST_SECRETS sealed. */
export const TEST_CHECK_VARIABLES = createCheckVariables({
  log: silentLog(),
  secrets: TEST_SECRETS,
});

/** Opens what TEST_SECRETS sealed. */
export const TEST_PROXY_PASSWORDS = createProxyPasswords({
  log: silentLog(),
  secrets: TEST_SECRETS,
});

/** A list of checks without a filter. */
export const ALL_CHECKS = {
  tags: [],
  types: [],
  states: [],
  search: null,
  activated: null,
  groupId: null,
  location: null,
  silent: null,
  without: [],
} as const;

/** For accounts without variables. */
export function testScrubbing(clock: Clock): SecretScrubbing {
  const variables = { forAgents: async () => [] };
  return createSecretScrubbing({ clock, variables, checkVariables: TEST_CHECK_VARIABLES });
}

/** All features of the service on this store; background work runs only by `features.work`. */
export async function testFeatures(
  store: Store,
  clock: Clock,
  own: Partial<FeatureParts> = {},
): Promise<TestFeatures> {
  const log = silentLog();
  const contents = await openArtifactStore({ s3: null, dataDir: null }, { clock, log });
  const wake = await createLocationWake(store, clock);
  const config = {
    leaseMs: 15_000,
    retentionDays: 30,
    staticIpv6s: ['2001:db8:1::/48', '2001:db8::7'],
  };
  return {
    features: createFeatures({
      store,
      clock,
      log,
      ids: randomUUID,
      wake,
      contents,
      plans: UNLIMITED,
      secrets: TEST_SECRETS,
      passwords: TEST_PASSWORDS,
      pictureSource: TEST_PICTURES,
      config,
      ...own,
    }),
    async close() {
      await wake.close();
      await contents.close();
    },
  };
}
