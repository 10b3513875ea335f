import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import longFiles from '../../.ci/long-files.json' with { type: 'json' };

/** Seconds of the last recorded run, by the path from the root of the repository. */
const SECONDS: Readonly<Record<string, number>> = longFiles;

/**
 * Starts files that take long first, so that none of them runs alone at the end. Vitest does so only
 * where it has run them before, which it has not on a clean clone.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(
    files: Parameters<BaseSequencer['sort']>[0],
  ): ReturnType<BaseSequencer['sort']> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => orderOf(a) - orderOf(b) || secondsOf(b) - secondsOf(a));
  }
}

function orderOf({ project }: TestSpecification): number {
  return project.config.sequence.groupOrder;
}

function secondsOf({ moduleId, project }: TestSpecification): number {
  return SECONDS[relative(project.config.root, moduleId)] ?? 0;
}
