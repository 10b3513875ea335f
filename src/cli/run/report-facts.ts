import { type TestSessionFacts, testSessionFactsSchema } from '../../model/result/test-session.ts';
import { VedetteError } from '../../runtime/errors.ts';

/** The options that describe a session, each undefined if it was not given. */
export interface ReportFlags {
  readonly project: string | undefined;
  readonly sessionName: string | undefined;
  readonly environment: string | undefined;
}

const OPTIONS = [
  { name: 'project', field: 'projectId', flag: '--project' },
  { name: 'sessionName', field: 'name', flag: '--session-name' },
  { name: 'environment', field: 'environment', flag: '--environment' },
] as const;

/**
 * Returns the facts of the test session for a reported run; null if the run is not reported.
 *
 * @throws VedetteError of kind `usage`, before any check runs, for options without --report and for values that no
 *   service accepts
 */
export function reportFactsOf(isAsked: boolean, flags: ReportFlags): TestSessionFacts | null {
  const given = OPTIONS.filter(({ name }) => flags[name] !== undefined);
  if (!isAsked) {
    const [idle] = given;
    if (idle === undefined) return null;
    throw usage('REPORT_NOT_ASKED', `${idle.flag} is for a report: add --report`);
  }
  const parsed = testSessionFactsSchema.safeParse(
    Object.fromEntries(given.map(({ name, field }) => [field, flags[name]])),
  );
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const option = given.find(({ field }) => field === issue?.path[0]);
  const problem =
    issue?.code === 'too_big' ? `is longer than ${issue.maximum} characters` : issue?.message;
  throw usage('REPORT_FACT', `${option?.flag ?? '--report'} ${problem ?? 'is not valid'}`);
}

function usage(code: string, message: string): VedetteError {
  return new VedetteError('usage', code, message);
}
