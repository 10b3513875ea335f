import { describe, expect, it } from 'vitest';
import {
  nextHourInZone,
  timeZoneSchema,
  zonedTime,
} from '../../../../src/model/account/time-zone.ts';

const HOUR_MS = 3_600_000;
const WINTER = Date.parse('2026-01-31T12:00:00.000Z');
const SUMMER = Date.parse('2026-07-31T23:30:00.250Z');

describe('a time in a zone', () => {
  it.each([
    [WINTER, 'UTC', '2026-01-31T12:00:00.000Z'],
    [WINTER, 'Europe/Berlin', '2026-01-31T13:00:00.000+01:00 (Europe/Berlin)'],
    [SUMMER, 'Europe/Berlin', '2026-08-01T01:30:00.250+02:00 (Europe/Berlin)'],
    [WINTER, 'America/St_Johns', '2026-01-31T08:30:00.000-03:30 (America/St_Johns)'],
    [WINTER, 'Asia/Kathmandu', '2026-01-31T17:45:00.000+05:45 (Asia/Kathmandu)'],
    [WINTER, 'Europe/London', '2026-01-31T12:00:00.000+00:00 (Europe/London)'],
  ])('%s in %s is %s', (epochMs, timeZone, text) => {
    expect(zonedTime(epochMs, timeZone)).toBe(text);
  });

  it('is the same instant, whatever the zone', () => {
    for (const timeZone of Intl.supportedValuesOf('timeZone')) {
      const [iso = ''] = zonedTime(SUMMER, timeZone).split(' ');
      expect([timeZone, Date.parse(iso)]).toEqual([timeZone, SUMMER]);
    }
  });

  it('is in UTC if the zone is not known here', () => {
    expect(zonedTime(WINTER, 'Mars/Olympus')).toBe('2026-01-31T12:00:00.000Z');
  });
});

describe('the name of a time zone', () => {
  it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])(
    'may be %s',
    (name) => {
      expect(timeZoneSchema.safeParse(name).success).toBe(true);
    },
  );

  it.each(['', '+01:00', 'Mars/Olympus', 'Europe/Berlin ', 'Europe/Berlin\n', 'x'.repeat(65)])(
    'may not be %j',
    (name) => {
      expect(timeZoneSchema.safeParse(name).success).toBe(false);
    },
  );
});

describe('the next full hour of a day in a zone', () => {
  it.each([
    ['2026-01-31T07:59:59.999Z', 9, 'Europe/Berlin', '2026-01-31T08:00:00.000Z'],
    ['2026-01-31T08:00:00.000Z', 9, 'Europe/Berlin', '2026-02-01T08:00:00.000Z'],
    ['2026-01-31T23:30:00.000Z', 0, 'Asia/Kathmandu', '2026-02-01T18:15:00.000Z'],
    // The clocks are set forward at 01:00 UTC, or back.
    ['2026-03-28T12:00:00.000Z', 9, 'Europe/Berlin', '2026-03-29T07:00:00.000Z'],
    ['2026-10-24T12:00:00.000Z', 9, 'Europe/Berlin', '2026-10-25T08:00:00.000Z'],
    // The clocks skip that hour.
    ['2026-03-28T12:00:00.000Z', 2, 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
    ['2026-03-07T12:00:00.000Z', 2, 'America/New_York', '2026-03-08T07:00:00.000Z'],
    ['2026-09-05T12:00:00.000Z', 0, 'America/Santiago', '2026-09-06T04:00:00.000Z'],
    ['2026-09-06T03:30:00.000Z', 0, 'America/Santiago', '2026-09-06T04:00:00.000Z'],
    // The clocks repeat that hour: its first occurrence counts.
    ['2026-10-24T12:00:00.000Z', 2, 'Europe/Berlin', '2026-10-25T00:00:00.000Z'],
    ['2026-10-25T00:00:00.000Z', 2, 'Europe/Berlin', '2026-10-26T01:00:00.000Z'],
    ['2026-01-31T12:00:00.000Z', 9, 'Not/AZone', '2026-02-01T09:00:00.000Z'],
  ])('after %s for %s h in %s is %s', (after, hour, zone, next) => {
    expect(new Date(nextHourInZone(Date.parse(after), hour, zone)).toISOString()).toBe(next);
  });

  it.each([
    ['2026-03-28T00:00Z', 'Europe/Berlin'],
    ['2026-10-24T00:00Z', 'Europe/Berlin'],
    ['2026-04-04T00:00Z', 'America/Santiago'],
    ['2026-09-05T00:00Z', 'America/Santiago'],
    ['2026-10-03T00:00Z', 'Australia/Lord_Howe'],
  ])('comes within 25 hours, also in the two days from %s in %s', (start, zone) => {
    for (let passed = 0; passed < 48; passed += 3) {
      const ms = Date.parse(start) + passed * HOUR_MS;
      for (const hour of [0, 2]) {
        const waitMs = nextHourInZone(ms, hour, zone) - ms;
        expect([ms, hour, waitMs > 0 && waitMs <= 25 * HOUR_MS]).toEqual([ms, hour, true]);
      }
    }
  });
});
