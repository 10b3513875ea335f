import { VedetteError } from '../../runtime/errors.ts';
import { countText } from '../../runtime/text/count-text.ts';
import { MIN_PART_BYTES, type PartPlan } from './artifact-store.ts';
import { ArtifactError } from './errors.ts';

/** All parts of an artifact in order: each `partBytes` long, the last one shorter. */
export function planParts(bytes: number, partBytes: number): readonly PartPlan[] {
  return Array.from({ length: Math.ceil(bytes / partBytes) }, (_, index) => {
    const offset = index * partBytes;
    return { n: index + 1, offset, bytes: Math.min(partBytes, bytes - offset) };
  });
}

/** One part of the plan. Throws ARTIFACT_INVALID where there is no such part. */
export function partOf(bytes: number, partBytes: number, n: number): PartPlan {
  const plan = planParts(bytes, partBytes);
  const part = plan[n - 1];
  if (part === undefined) {
    const message = `There is no part ${n}; this upload has the parts 1 to ${plan.length}`;
    throw new ArtifactError('ARTIFACT_INVALID', message);
  }
  return part;
}

/** Validates the part size when a store is created: otherwise S3 would only refuse the second part. */
export function checkPartBytes(partBytes: number): void {
  if (!Number.isSafeInteger(partBytes) || partBytes < MIN_PART_BYTES) {
    const message = `The part size of artifacts must be a whole number of bytes, ${MIN_PART_BYTES} or more`;
    throw new VedetteError('config', 'ARTIFACT_PART_BYTES', message);
  }
}

/** Throws ARTIFACT_PARTS_MISSING unless all parts are there. */
export function checkNoneMissing(missing: readonly PartPlan[]): void {
  if (missing.length === 0) return;
  const numbers = missing.map(({ n }) => n);
  const message = `The upload cannot be completed: ${countText(missing.length, 'part is', 'parts are')} missing (${numbers.join(', ')})`;
  throw new ArtifactError('ARTIFACT_PARTS_MISSING', message, { missing: numbers });
}
