import { describe, expect, it } from 'vitest';
import {
  CHECK_ID,
  freeCheckId,
  isReservedCheckId,
  RESERVED_CHECK_IDS,
  RESERVED_CHECK_IDS_PATTERN,
  RESERVED_CHECK_IDS_TEXT,
} from '../../../src/model/ids.ts';

describe('the ids that are paths of the API', () => {
  const pattern = new RegExp(RESERVED_CHECK_IDS_PATTERN, 'u');

  it('match their pattern in upper and lower case', () => {
    const written = RESERVED_CHECK_IDS.flatMap((id) => [
      id,
      id.toUpperCase(),
      `${id.slice(0, 1).toUpperCase()}${id.slice(1)}`,
    ]);
    expect(written).toContain('heartbeats');
    expect(written.filter((id) => !pattern.test(id) || !isReservedCheckId(id))).toEqual([]);
  });

  it.each(['home', 'url-check', 'my-url', 'apis', 'heart', 'ur'])(
    'do not include %s, which the pattern does not match',
    (id) => {
      expect(pattern.test(id)).toBe(false);
      expect(isReservedCheckId(id)).toBe(false);
      expect(freeCheckId(id)).toBe(id);
    },
  );

  it('are all named in descriptions', () => {
    expect(RESERVED_CHECK_IDS_TEXT).toBe(
      'url, api, tcp, dns, icmp, heartbeat or heartbeats, in upper or lower case',
    );
  });

  it.each(RESERVED_CHECK_IDS)('have a substitute that a check can have: %s', (id) => {
    expect(freeCheckId(id)).toMatch(CHECK_ID);
    expect(pattern.test(freeCheckId(id))).toBe(false);
  });
});
