import type { CheckResult } from '../../../src/model/result/result.ts';

/**
 * A result as the API shows it: some fields of src/model/README.md, "Results" appear only with a
 * value.
 */
export function shownResult(result: CheckResult): object {
  const { agenticCheckResult: _, apiCheckResult, ...rest } = result;
  if (apiCheckResult === null) return rest;
  const { pcapDataUrl, ...detail } = apiCheckResult;
  return {
    ...rest,
    apiCheckResult: { ...detail, ...(pcapDataUrl === null ? {} : { pcapDataUrl }) },
  };
}
