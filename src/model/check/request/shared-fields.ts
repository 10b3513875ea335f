import { isIP } from 'node:net';
import { z } from 'zod';
import { FAMILY_CHOICES, type FamilyChoice } from '../../enums.ts';

/** Fields that requests of several check types have. */

export const ipFamily = z
  .enum(FAMILY_CHOICES)
  .default('IPv4')
  .describe(
    'The address family to use. IPv6 falls back to IPv4 if the agent has no IPv6. ANY: the family that connects first. BOTH: each family must pass. See Address families.',
  );

function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

/**
 * For a schema's superRefine: an address has one family, so that a check of both would always fail.
 *
 * @param hostname an IPv6 address with or without brackets; null if it is not valid
 */
export function refuseBothForAddress(
  hostname: string | null,
  choice: FamilyChoice,
  context: z.RefinementCtx,
): void {
  if (choice !== 'BOTH' || hostname === null || !isAddress(hostname)) return;
  const message = 'must not be BOTH for an IP address, which has one family: name a host';
  context.addIssue({ code: 'custom', path: ['ipFamily'], message });
}

export const HOST_NAME =
  /^(?=.{1,253}\.?$)[\p{L}\p{N}_]([\p{L}\p{N}_-]{0,61}[\p{L}\p{N}_])?(\.[\p{L}\p{N}_]([\p{L}\p{N}_-]{0,61}[\p{L}\p{N}_])?)*\.?$/u;

export const hostname = z
  .string()
  .min(1)
  .max(253)
  .refine((text) => isAddress(text) || HOST_NAME.test(text), {
    message: 'must be a host name or an IP address, without scheme, port or path',
  })
  .describe('A host name or IP address, without scheme or port.');

export const port = z.int().min(1).max(65_535).describe('The port to connect to.');

export const skipSSL = z
  .boolean()
  .default(false)
  .describe('Whether any server certificate is accepted.');
