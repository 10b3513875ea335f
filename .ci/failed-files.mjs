// Prints the test files that failed, a line each: `node .ci/failed-files.mjs REPORT`.
import { readTestReport } from './vitest-report.mjs';

for (const { file, failures } of readTestReport(process.argv[2]) ?? []) {
  if (failures.length > 0) console.log(file);
}
