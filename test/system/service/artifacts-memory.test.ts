import { expect, it, onTestFinished } from 'vitest';
import { MIN_PART_BYTES } from '../../../src/service/object-store/artifact-store.ts';
import { MAX_ARTIFACT_BYTES } from '../../../src/wire/v1/limits.ts';
import { measureMemory } from '../../support/artifacts/artifact-driver.ts';
import { startS3Server } from '../../support/artifacts/s3-server.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

const MIB = 1024 * 1024;

// For a folder, test/system/survival/artifact-link.test.ts measures the whole service.
it('an S3 store needs no more memory for the largest artifact than for a small one', async () => {
  const folder = makeTempFolder();
  const server = await startS3Server({ folder: folder.path });
  onTestFinished(async () => {
    await server.close();
    folder.remove();
  });
  const store = {
    s3: {
      bucket: server.bucketName,
      prefix: '',
      region: server.region,
      endpoint: server.endpoint,
      pathStyle: true,
      credentials: server.credentials,
      direct: null,
      partBytes: MIN_PART_BYTES,
    },
  };
  const report = await measureMemory(store, MAX_ARTIFACT_BYTES);
  expect(report.same).toBe(true);
  expect(report.growthBytes).toBeLessThan(8 * MIB);
  // 32 MiB as there, and 64 for unused buffers that V8 has not yet collected.
  expect(report.rssGrowthBytes).toBeLessThan((32 + 64) * MIB);
});
