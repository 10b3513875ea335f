import { FileProblemsError } from '../../../src/agent/source/common/file-problem.ts';
import { parseCheckFile } from '../../../src/agent/source/file/parse-check-file.ts';

/** Every problem of a check file's text, as `line:column: text`. */
export async function problemsOf(text: string, file = 'f.yaml'): Promise<readonly string[]> {
  const error = await parseCheckFile(text, file).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof FileProblemsError)) throw new Error('the file has no problems');
  return error.lines().map((line) => line.replace(/^f\.(yaml|json):\s?/, ''));
}
