import { addCertificates, addClientCertificates } from './certificates/certificate-samples.ts';
import { addFailures, addSessions } from './findings/finding-samples.ts';
import { addReportedChecks } from './reports/report-samples.ts';
import type { Scene } from './scenes.ts';
import { addSnippets } from './snippets/snippet-samples.ts';
import { addVariables } from './variables/variable-samples.ts';

/** The pages below More in the navigation. */
export const MORE_SCENES: readonly Scene[] = [
  { name: 'certificates-empty', path: '/certificates' },
  { name: 'certificates', path: '/certificates', prepare: addCertificates },
  {
    name: 'certificates-client',
    path: '/certificates?view=client',
    prepare: addClientCertificates,
  },
  {
    name: 'certificates-add',
    path: '/certificates?view=client',
    act: async ({ page }) => {
      await page.getByRole('button', { name: 'Add a certificate' }).click();
      await page.getByLabel('Host').waitFor();
    },
  },
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
  { name: 'reports-empty', path: '/reports' },
  {
    name: 'reports',
    path: '/reports?sort=availability',
    prepare: addReportedChecks,
    act: async ({ page }) => await page.getByText('3 checks', { exact: true }).waitFor(),
  },
  {
    name: 'reports-error',
    path: '/reports',
    act: async ({ page }) => {
      await page.route(/\/v1\/analytics/, (route) => route.fulfill({ status: 503, body: '{}' }));
      await page.reload();
      await page.getByRole('alert').waitFor();
    },
  },
  { name: 'snippets-empty', path: '/snippets' },
  { name: 'snippets', path: '/snippets', prepare: addSnippets },
  {
    name: 'snippets-edit',
    path: '/snippets',
    prepare: addSnippets,
    act: async ({ page }) => {
      await page.getByRole('button', { name: 'Edit Sign in' }).click();
      await page.getByLabel('Script').waitFor();
    },
  },
  {
    name: 'snippets-error',
    path: '/snippets',
    act: async ({ page }) => {
      await page.route(/\/v1\/snippets/, (route) => route.fulfill({ status: 503, body: '{}' }));
      await page.reload();
      await page.getByRole('alert').waitFor();
    },
  },
  { name: 'variables-empty', path: '/variables' },
  { name: 'variables', path: '/variables', prepare: addVariables },
  {
    name: 'variables-edit',
    path: '/variables',
    prepare: addVariables,
    act: async ({ page }) => {
      await page.getByRole('button', { name: 'Edit API_TOKEN' }).click();
      await page.getByLabel('New value').waitFor();
    },
  },
  {
    name: 'variables-delete',
    path: '/variables',
    prepare: addVariables,
    act: async ({ page }) => {
      await page.getByRole('button', { name: 'Delete API_TOKEN' }).click();
      await page.getByText('their next runs fail').waitFor();
    },
  },
  {
    name: 'variables-error',
    path: '/variables',
    act: async ({ page }) => {
      await page.route(/\/v1\/variable/, (route) => route.fulfill({ status: 503, body: '{}' }));
      await page.reload();
      await page.getByRole('alert').waitFor();
    },
  },
];
