import type { Scene } from '../scenes.ts';
import { addFailures, addSessions } from './finding-samples.ts';

export const FINDING_SCENES: readonly Scene[] = [
  { name: 'error-groups-empty', path: '/error-groups' },
  {
    name: 'error-groups',
    path: '/error-groups',
    prepare: addFailures,
    act: async ({ page }) => {
      await page.locator('summary').first().click();
      await page.getByText('Last run').waitFor();
    },
  },
  { name: 'test-sessions-empty', path: '/test-sessions' },
  {
    name: 'test-sessions',
    path: '/test-sessions',
    prepare: async (account) => void (await addSessions(account)),
  },
  {
    name: 'test-session',
    path: '/test-sessions',
    prepare: async (account) => void (await addSessions(account)),
    act: async ({ page }) => {
      await page.getByRole('link', { name: 'Deployment 1842' }).click();
      await page.getByRole('table').first().waitFor();
    },
  },
  { name: 'analyses-empty', path: '/analyses' },
  { name: 'analyses', path: '/analyses', prepare: addFailures },
  {
    name: 'analysis',
    path: '/analyses',
    prepare: addFailures,
    act: async ({ page }) => {
      await page.locator('main table a').first().click();
      await page.waitForURL(/analyses\/./);
    },
  },
];
