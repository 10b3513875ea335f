import { describe } from 'vitest';
import { databases } from '../../../support/database/databases.ts';
import { useArtifactServer } from '../../../support/service/artifact-service.ts';
import { artifactCleanUps } from './clean-ups.suite.ts';
import { artifactDownloads } from './downloads.suite.ts';
import { artifactLocations } from './locations.suite.ts';
import { artifactQuotas } from './quotas.suite.ts';
import { artifactUpgrades } from './upgrades.suite.ts';
import { artifactUploads, hostileArtifacts } from './uploads.suite.ts';

/** Artifacts through the agents' routes and those of users, on real files. */
describe.each(databases)('on %s', (kind) => {
  const server = useArtifactServer(kind);
  artifactUploads(server);
  hostileArtifacts(server);
  artifactLocations(server);
  artifactQuotas(server);
  artifactDownloads(server);
  artifactCleanUps(server);
  artifactUpgrades(kind);
});
