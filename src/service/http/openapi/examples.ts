import { readFileSync } from 'node:fs';

/**
 * Examples by the names of their schemas. The tests take them from responses of the service, and
 * `npm run examples` writes them anew.
 */
export function readExamples(): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(new URL('./examples.json', import.meta.url), 'utf8'));
}
