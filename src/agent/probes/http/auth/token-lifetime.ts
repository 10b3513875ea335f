/** The lifetime of a token for which the endpoint sends none. */
const DEFAULT_LIFETIME_S = 300;
/** A token is replaced this long before it expires, or a tenth of its lifetime before. */
const MARGIN_S = 30;

/**
 * How long a new token is used, in milliseconds.
 *
 * @param lifetimeS seconds that it is valid (`expires_in`, RFC 6749 5.1); null if that is not known
 */
export function usedForMs(lifetimeS: number | null): number {
  const validS = lifetimeS ?? DEFAULT_LIFETIME_S;
  return (validS - Math.min(MARGIN_S, validS / 10)) * 1000;
}
