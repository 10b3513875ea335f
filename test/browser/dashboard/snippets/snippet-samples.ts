import { expect } from 'vitest';
import type { DashboardAccount } from '../../support/dashboard-service.ts';

const SIGN_IN = `export async function signIn(page, user) {
  await page.goto('https://shop.example.com/sign-in');
  await page.getByLabel('Email').fill(user.email);
}
`;

/** Snippets of different lengths. */
export async function addSnippets({ post }: DashboardAccount): Promise<void> {
  const snippets = [
    { name: 'Sign in', script: SIGN_IN },
    { name: 'Empty', script: '' },
    { name: 'One long line', script: `const url = 'https://example.com/${'long/'.repeat(60)}';` },
  ];
  for (const snippet of snippets) {
    const { status, text } = await post('/v1/snippets', snippet);
    expect(status, text).toBe(201);
  }
}
