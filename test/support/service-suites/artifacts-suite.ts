import { describe } from 'vitest';
import type { DatabaseKind } from '../database/databases.ts';
import { useArtifactServer } from '../service/artifact-service.ts';
import { artifactCleanUps } from './artifact-clean-ups.ts';
import { artifactDownloads } from './artifact-downloads.ts';
import { artifactLocations } from './artifact-locations.ts';
import { artifactQuotas } from './artifact-quotas.ts';
import { artifactUpgrades } from './artifact-upgrades.ts';
import { artifactUploads, hostileArtifacts } from './artifact-uploads.ts';

/** Artifacts through the agents' routes and those of users, on real files. */
export function artifactsSuite(kind: DatabaseKind): void {
  describe(`on ${kind}`, () => {
    const server = useArtifactServer(kind);
    artifactUploads(server);
    hostileArtifacts(server);
    artifactLocations(server);
    artifactQuotas(server);
    artifactDownloads(server);
    artifactCleanUps(server);
  });
  describe(`on ${kind}`, () => artifactUpgrades(kind));
}
