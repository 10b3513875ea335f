import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { Scrubber } from '../../../scrub/scrubber.ts';
import { artifactBeginSchema } from '../../../wire/v1/artifacts.ts';
import type { ArtifactOutbox } from '../../upload/artifact-outbox.ts';
import type { Attempt } from '../attempt.ts';
import { scrubBody } from './scrubbed-body.ts';

/** The part of the outbox that saves artifacts. */
export type ArtifactTaker = Pick<ArtifactOutbox, 'add'>;

export const BODY_ARTIFACT = 'response-body';

const UNKNOWN_TYPE = 'application/octet-stream';

/**
 * Saves the body of a failed attempt as an artifact if it is longer than a result stores
 * (src/model/README.md, "Results"). Problems go to the job log.
 *
 * @returns the attempt's `jobAssets`
 */
export async function saveFailedBody(
  attempt: Attempt,
  owner: { readonly checkId: string; readonly resultId: string },
  {
    artifacts,
    scrubber,
    log,
  }: {
    readonly artifacts: ArtifactTaker | null;
    readonly scrubber: () => Promise<Scrubber>;
    readonly log: Logger;
  },
): Promise<readonly string[]> {
  const { longBody, jobLog, verdict } = attempt;
  if (artifacts === null || longBody === null || !verdict.hasFailures) return [];
  const { totalBytes } = longBody;
  try {
    const isWhole = longBody.bytes.length === totalBytes;
    const body = await scrubBody(longBody, isWhole, await scrubber());
    const { bytes } = body;
    const contentType = mediaTypeOf(body.contentType);
    const added = await artifacts.add({ ...owner, name: BODY_ARTIFACT, contentType, bytes });
    if (!added.ok) {
      jobLog.warn(added.note);
      return [];
    }
    if (!isWhole) {
      const savedBytes = Math.max(0, longBody.bytes.length - body.droppedBytes);
      const part = `the first ${savedBytes} of ${totalBytes} bytes that were read`;
      jobLog.warn(`The artifact ${BODY_ARTIFACT} has only ${part}: other runs had long bodies too`);
    }
    return [added.asset];
  } catch (fault) {
    log.error({ err: fault, ...owner }, `an artifact could not be saved: ${messageOf(fault)}`);
    jobLog.warn(`The response body could not be saved: a fault of the agent itself`);
    return [];
  }
}

/** The media type in a Content-Type header; a general one if it is invalid. */
export function mediaTypeOf(header: string | null): string {
  const [essence = '', ...parameters] = (header ?? '').toLowerCase().split(';');
  const charset = parameters.map((text) => text.trim()).find((text) => text.startsWith('charset='));
  const type = essence.trim();
  const whole = charset === undefined ? type : `${type}; ${charset.replaceAll('"', '')}`;
  return [whole, type].find(isMediaType) ?? UNKNOWN_TYPE;
}

function isMediaType(text: string): boolean {
  return artifactBeginSchema.shape.contentType.safeParse(text).success;
}
