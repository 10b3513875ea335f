import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ALERT_RULES, COPIES_OF_RULES, DOCKER } from '../../support/compose/prometheus-files.ts';

const rules = readFileSync(ALERT_RULES, 'utf8');

/** `npm run docs` writes the copies again. Every other run only compares them. */
if (process.env.UPDATE_DOCS === '1') {
  for (const { path, make } of COPIES_OF_RULES) writeFileSync(join(DOCKER, path), make(rules));
}

it.each(COPIES_OF_RULES)('$path has the alert rules (npm run docs)', ({ path, make }) => {
  expect(readFileSync(join(DOCKER, path), 'utf8')).toBe(make(rules));
});
