import { fail, type Scene } from '../scenes.ts';
import { addCheck, addFailingCheck, addLocations, ORDERS } from './check-samples.ts';

/** By account: scenes have accounts of their own. */
const failedIds = new Map<string, string>();

async function prepare(
  account: Parameters<NonNullable<Scene['prepare']>>[0],
  service: Parameters<NonNullable<Scene['prepare']>>[1],
): Promise<void> {
  const { failedId } = await addFailingCheck(account, service);
  failedIds.set(account.accountId, failedId);
}

export const CHECK_SCENES: readonly Scene[] = [
  { name: 'check-gone', path: '/checks/none' },
  {
    name: 'check-parts-error',
    path: '/checks/orders',
    prepare,
    act: async ({ page }) => {
      await fail(page, /\/v1\/(?:check-statuses|checks\/orders\/(?:availability|runs)|analytics)/);
      await page.reload();
      await page.getByRole('alert').first().waitFor();
    },
  },
  { name: 'check-failing', path: '/checks/orders', prepare },
  {
    name: 'check-run-failed',
    path: ({ accountId }) => `/checks/orders/results/${failedIds.get(accountId)}`,
    prepare,
  },
  {
    name: 'check-run-compared',
    path: ({ accountId }) =>
      `/checks/orders/results/${failedIds.get(accountId)}?compare=last-passing`,
    prepare,
  },
  {
    name: 'check-new',
    path: '/checks/new-one',
    async prepare(account, service) {
      await addLocations(account, service, ['office']);
      await addCheck(account, service, 'new-one', { ...ORDERS, privateLocations: ['office'] });
    },
  },
];
