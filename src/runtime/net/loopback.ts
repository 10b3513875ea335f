import { isIP } from 'node:net';

/** Whether a host of a URL or of a Host header means this machine. @param host without port or brackets */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
