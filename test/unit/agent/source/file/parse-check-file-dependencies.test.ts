import { expect, it } from 'vitest';
import { parseCheckFile } from '../../../../../src/agent/source/file/parse-check-file.ts';
import { problemsOf } from '../../../../support/samples/check-file-problems.ts';

const check = (id: string, dependsOn = '[]') =>
  `  - { id: ${id}, dependsOn: ${dependsOn}, checkType: URL, request: { url: "https://e.test/" } }\n`;

it('checks of a file depend on others of the file, in any order', async () => {
  const text = `checks:\n${check('shop', '[switch]')}${check('switch')}`;
  const { checks } = await parseCheckFile(text, 'checks.yaml');
  expect(checks.map(({ dependsOn }) => dependsOn)).toEqual([['switch'], []]);
});

it.each([
  [
    check('shop', '[swich]') + check('switch'),
    '2:29: checks[0].dependsOn[0] of check "shop" must name the check by its id in this file, which has no "swich"; did you mean switch?',
  ],
  [
    check('a') + check('b', '[d]') + check('c', '[b]') + check('d', '[c]'),
    '3:25: checks[1].dependsOn of check "b" must not lead back to the check itself: b depends on d depends on c depends on b',
  ],
  [check('a', '[a]'), '2:25: checks[0].dependsOn of check "a" must not name the check itself'],
])('a file with %j is refused at the dependency', async (checks, problem) => {
  expect(await problemsOf(`checks:\n${checks}`)).toEqual([problem]);
});
