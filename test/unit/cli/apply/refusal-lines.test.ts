import { writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { refusalLines } from '../../../../src/cli/apply/refusal-lines.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';

it('a refusal has the line of its entry, and that of the escalation the line of its field', async () => {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  const file = folder.file('shop.yaml');
  writeFileSync(file, 'checks:\n  - id: home\nescalationStep: { minutes: 15 }\n');
  const reasons = ['is refused (409): why'];
  const lines = await refusalLines(file, [
    { kind: 'check', id: 'home', reasons },
    { kind: 'escalation', id: 'escalationStep', reasons },
    { kind: 'check', id: 'other', reasons },
  ]);
  expect(lines).toEqual([
    `${file}:2: check "home" is refused (409): why`,
    `${file}:3: the field "escalationStep" is refused (409): why`,
    `${file}: check "other" is refused (409): why`,
  ]);
});
