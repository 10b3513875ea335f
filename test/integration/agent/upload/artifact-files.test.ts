import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { piecesOfFile } from '../../../../src/agent/service-client/file-pieces.ts';
import { artifactIdOf } from '../../../../src/model/ids.ts';
import { MAX_ARTIFACT_BYTES } from '../../../../src/wire/v1/limits.ts';
import { uploadFixture } from '../../../support/agent/upload-fixture.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';

const ABOUT = {
  resultId: 'a-result',
  checkId: 'a-check',
  name: 'capture.pcap',
  contentType: 'application/vnd.tcpdump.pcap',
};
const ID = artifactIdOf(ABOUT.resultId, ABOUT.name);
const UPLOAD = `${ABOUT.resultId}-${ABOUT.name}`;

function fileOf(bytes: Uint8Array): string {
  const folder = makeTempFolder();
  onTestFinished(folder.remove);
  writeFileSync(folder.file('capture'), bytes);
  return folder.file('capture');
}

it.each([
  ['a folder', {}],
  ['memory', { dataDir: null }],
])('a file is uploaded by way of %s like bytes, and stays in place', async (_, options) => {
  const { outbox, run, service, empty } = await uploadFixture(options);
  // Several pieces, and several parts.
  service.partBytes = 400_000;
  const bytes = randomBytes(2_500_000);
  const path = fileOf(bytes);
  const added = await outbox.addFile({ ...ABOUT, path });
  expect(added).toEqual({ ok: true, asset: `/v1/artifacts/${ID}` });
  void run();
  await empty();
  const upload = service.uploads.get(UPLOAD);
  expect(upload?.begin).toMatchObject({
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  });
  expect(upload?.content?.equals(bytes)).toBe(true);
  expect(readFileSync(path).equals(bytes)).toBe(true);
  await eventually(() => outbox.bytes === 0);
});

it('a file that is missing or over the limit is refused with a note, without being read', async () => {
  const { outbox, folder } = await uploadFixture();
  const path = fileOf(Buffer.alloc(1));
  truncateSync(path, MAX_ARTIFACT_BYTES + 1);
  expect(await outbox.addFile({ ...ABOUT, path })).toEqual({
    ok: false,
    note: `The artifact capture.pcap (${MAX_ARTIFACT_BYTES + 1} bytes) is not kept: the limit is ${MAX_ARTIFACT_BYTES} bytes`,
  });
  expect(await outbox.addFile({ ...ABOUT, path: folder.file('none') })).toEqual({
    ok: false,
    note: expect.stringMatching(/^The artifact capture\.pcap is not kept: ENOENT/),
  });
  expect(readdirSync(folder.path)).not.toContain('artifacts');
});

it('a file larger than the memory for artifacts is refused without being read', async () => {
  const { outbox } = await uploadFixture({ dataDir: null });
  const path = fileOf(Buffer.alloc(1));
  truncateSync(path, 64 * 1024 * 1024);
  expect(await outbox.addFile({ ...ABOUT, path })).toEqual({
    ok: false,
    note: 'The artifact capture.pcap (67108864 bytes) is not kept: there is no room for it',
  });
});

it('reads a file in pieces from any offset, and fails where it ends too early', async () => {
  const bytes = randomBytes(10_000);
  const path = fileOf(bytes);
  const read = async (fromByte: number, count: number): Promise<Buffer[]> => {
    const pieces: Buffer[] = [];
    const range = { fromByte, bytes: count, pieceBytes: 3000 };
    for await (const piece of piecesOfFile(path, range)) pieces.push(Buffer.from(piece));
    return pieces;
  };
  const pieces = await read(100, 9900);
  expect(pieces.map(({ length }) => length)).toEqual([3000, 3000, 3000, 900]);
  expect(Buffer.concat(pieces).equals(bytes.subarray(100))).toBe(true);
  await expect(read(100, 9901)).rejects.toMatchObject({ code: 'ARTIFACT_CHANGED' });
});
