// A Vitest reporter that leaves a file where errors came outside of any test: the JSON report has none of them.
import { writeFileSync } from 'node:fs';

// biome-ignore lint/style/noDefaultExport: Vitest takes a reporter that a file names by its default export
export default class UnhandledErrors {
  onTestRunEnd(_modules, errors) {
    if (errors.length === 0) return;
    writeFileSync(
      process.env.UNHANDLED_ERRORS,
      errors.map(({ message }) => `${message}\n`).join(''),
    );
  }
}
