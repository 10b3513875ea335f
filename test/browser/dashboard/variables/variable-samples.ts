import { expect } from 'vitest';
import type { DashboardAccount } from '../../support/dashboard-service.ts';

const CHECKS = ['Checkout', 'Search', 'Basket', 'Login', 'Orders', 'Invoices'];

/** Variables of each kind, and checks that use some of them and one that is not defined. */
export async function addVariables(account: DashboardAccount): Promise<void> {
  const { post, put } = account;
  const variables = [
    { key: 'BASE_URL', value: 'https://shop.example.com' },
    { key: 'API_TOKEN', value: 'vt_9f2c71d0a6b84e55', secret: true },
    { key: 'CUSTOMER', value: '10023', locked: true },
    { key: 'OLD_BASE_URL', value: `https://legacy.example.com/${'long/'.repeat(30)}` },
  ];
  for (const variable of variables) await post('/v1/variables', variable);
  for (const name of CHECKS) {
    const { status, text } = await put(`/v1/checks/${name.toLowerCase()}`, {
      name,
      checkType: 'API',
      frequency: 1,
      locations: ['eu-central-1'],
      request: {
        method: 'POST',
        url: `{{BASE_URL}}/${name.toLowerCase()}`,
        headers: [{ key: 'authorization', value: 'Bearer {{API_TOKEN}}' }],
        ...(name === 'Orders' ? { body: '{"customer":"{{CUSTOMER}}","shop":"{{SHOP_ID}}"}' } : {}),
      },
    });
    expect(status, text).toBe(200);
  }
}
