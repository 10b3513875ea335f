import { randomUUID } from 'node:crypto';
import { CreateBucketCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { MIN_PART_BYTES } from '../../../src/service/object-store/artifact-store.ts';
import { createS3Store } from '../../../src/service/object-store/s3/s3.ts';
import { artifactStoreSuite } from '../../support/artifacts/artifact-store.suite.ts';
import { directUploadSuite } from '../../support/artifacts/direct-upload.suite.ts';
import { SWIFT_NEEDS, type SwiftServer, startSwift } from '../../support/artifacts/swift-server.ts';
import { captureLog } from '../../support/log-capture.ts';
import { lacking } from '../../support/process/system-needs.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';

const lacks = lacking(SWIFT_NEEDS);

describe.skipIf(lacks !== null)(
  `artifacts on OpenStack Swift’s S3 server (lacking: ${lacks ?? 'nothing'})`,
  () => {
    const { log } = captureLog();
    const endings: (() => unknown)[] = [];
    let swift: SwiftServer;
    let client: S3Client;

    beforeAll(async () => {
      const folder = makeTempFolder();
      endings.unshift(() => folder.remove());
      swift = await startSwift(folder.path);
      endings.unshift(() => swift.close());
      const { region, endpoint, credentials } = swift;
      client = new S3Client({ region, endpoint, credentials, forcePathStyle: true });
      endings.unshift(() => client.destroy());
    });
    afterAll(async () => {
      for (const end of endings) await end();
    });

    async function makeStorage(direct: { endpoint: null; expiresMs: number } | null) {
      const bucket = `bucket-${randomUUID()}`;
      await client.send(new CreateBucketCommand({ Bucket: bucket }));
      const { region, endpoint, credentials } = swift;
      const open = async () =>
        createS3Store(
          {
            bucket,
            prefix: 'vedette/',
            region,
            endpoint,
            pathStyle: true,
            credentials,
            direct,
            partBytes: MIN_PART_BYTES,
          },
          { clock: systemClock, log },
        );
      async function contents(): Promise<readonly string[]> {
        const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
        return (Contents ?? []).map(({ Key }) => Key ?? '');
      }
      return { open, contents, remove: async () => {} };
    }

    artifactStoreSuite('artifacts in Swift', () => makeStorage(null));
    directUploadSuite('direct uploads to Swift', () =>
      makeStorage({ endpoint: null, expiresMs: 60_000 }),
    );
  },
);
