import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const MIGRATIONS = 'dist/service/database/migrations';

/** When the entries, contents or modes of the folder and its files last changed. */
function changeTimes(): readonly [string, bigint][] {
  const names = ['.', ...readdirSync(MIGRATIONS).sort()];
  return names.map((name) => [name, statSync(join(MIGRATIONS, name), { bigint: true }).ctimeNs]);
}

// `npm start` builds, and a service that starts meanwhile from the same folder reads the migrations.
it('leaves migrations that are up to date untouched in a second build', () => {
  const before = changeTimes();
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  expect(changeTimes()).toEqual(before);
});
