// Prints the test files that failed, a line each: `node .ci/failed-files.mjs REPORT`.
import { readTestReport } from './vitest-report.mjs';

const { failures = [] } = readTestReport(process.argv[2]) ?? {};
for (const file of new Set(failures.map((failure) => failure.file))) console.log(file);
