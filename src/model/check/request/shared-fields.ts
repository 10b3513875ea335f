import { isIP } from 'node:net';
import { z } from 'zod';
import { IP_FAMILIES } from '../../enums.ts';

/** Fields that requests of several check types have. */

export const ipFamily = z
  .enum(IP_FAMILIES)
  .default('IPv4')
  .describe('The address family to use. IPv6 falls back to IPv4 if the agent has no IPv6.');

export const HOST_NAME =
  /^(?=.{1,253}\.?$)[\p{L}\p{N}_]([\p{L}\p{N}_-]{0,61}[\p{L}\p{N}_])?(\.[\p{L}\p{N}_]([\p{L}\p{N}_-]{0,61}[\p{L}\p{N}_])?)*\.?$/u;

export const hostname = z
  .string()
  .min(1)
  .max(253)
  .refine((text) => isIP(text.replace(/^\[(.*)\]$/, '$1')) !== 0 || HOST_NAME.test(text), {
    message: 'must be a host name or an IP address, without scheme, port or path',
  })
  .describe('A host name or IP address, without scheme or port.');

export const port = z.int().min(1).max(65_535).describe('The port to connect to.');

export const skipSSL = z
  .boolean()
  .default(false)
  .describe('Whether any server certificate is accepted.');
