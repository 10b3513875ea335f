// The part of the build that `tsc` does not do: copies the migrations and the examples of the API into
// dist, writes the JSON Schema of the check file there, and makes the command executable.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { checkFileSchema } from '../dist/model/check-file/check-file-schema.js';

const ROOT = join(import.meta.dirname, '..');
const FROM = join(ROOT, 'src/service/database/migrations');
const TO = join(ROOT, 'dist/service/database/migrations');
const EXAMPLES = 'service/http/openapi/examples.json';

mkdirSync(TO, { recursive: true });
for (const name of readdirSync(TO)) {
  if (!existsSync(join(FROM, name))) rmSync(join(TO, name));
}
for (const name of readdirSync(FROM)) {
  copy(join(FROM, name), join(TO, name));
}
copy(join(ROOT, 'src', EXAMPLES), join(ROOT, 'dist', EXAMPLES));
mkdirSync(join(ROOT, 'dist/schemas'), { recursive: true });
writeFileSync(
  join(ROOT, 'dist/schemas/check-file.json'),
  `${JSON.stringify(checkFileSchema(), null, 1)}\n`,
);
chmodSync(join(ROOT, 'dist/cli/main.js'), 0o755);

/** A service that starts during a build reads these files: a current one stays untouched. */
function copy(from, to) {
  if (existsSync(to) && readFileSync(from).equals(readFileSync(to))) return;
  copyFileSync(from, to);
}
