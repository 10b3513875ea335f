// The part of the build that `tsc` does not do: copies the migrations into dist and makes the
// command executable.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const FROM = join(ROOT, 'src/service/database/migrations');
const TO = join(ROOT, 'dist/service/database/migrations');

mkdirSync(TO, { recursive: true });
for (const name of readdirSync(TO)) {
  if (!existsSync(join(FROM, name))) rmSync(join(TO, name));
}
for (const name of readdirSync(FROM)) {
  const [from, to] = [join(FROM, name), join(TO, name)];
  // A service that starts during a build reads these files: a current one stays untouched.
  if (!isCurrent(from, to)) copyFileSync(from, to);
}
chmodSync(join(ROOT, 'dist/cli/main.js'), 0o755);

function isCurrent(from, to) {
  return existsSync(to) && readFileSync(from).equals(readFileSync(to));
}
