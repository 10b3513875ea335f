/** Parts of the rules in error-grouping.ts: sources of case-insensitive regular expressions. */

/** A time of day. */
export const CLOCK =
  '\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d{1,9})?)?(?: ?[ap]m)?(?: ?(?:z|utc|gmt|[-+]\\d{2}:?\\d{2}))?';
const WEEKDAY = '(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}';
const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}';
/** A day as people and programs write it. */
export const DAY = [
  '\\d{4}[-/.]\\d{1,2}[-/.]\\d{1,2}',
  '\\d{1,2}[-/.]\\d{1,2}[-/.]\\d{4}',
  `(?:${WEEKDAY},? )?\\d{1,2}[ -]${MONTH}[ -]\\d{2,4}`,
  // In asctime, the year follows the time.
  `(?:${WEEKDAY},? )?${MONTH} {1,2}\\d{1,2}(?:,? \\d{4}|(?= \\d{1,2}:\\d{2}))`,
].join('|');

export const AMOUNT = '\\d+(?:[.,]\\d+)?';
/** Unit of a duration. */
export const UNIT =
  '(?:(?:nano|micro|milli)?sec(?:ond)?s?|[nu\\u00b5\\u03bcm]?s|msecs?|m|mins?|minutes?|h|hrs?|hours?|d|days?)';

const HEX_GROUP = '[0-9a-f]{1,4}';
const HEX_GROUPS = `${HEX_GROUP}(?::${HEX_GROUP}){0,6}`;
export const IPV4 = '(?:\\d{1,3}\\.){3}\\d{1,3}';
export const IPV6 = [
  `(?:${HEX_GROUPS})?::(?:ffff:)?${IPV4}`,
  `(?:${HEX_GROUP}:){7}${HEX_GROUP}`,
  `${HEX_GROUPS}::(?:${HEX_GROUPS})?`,
  `::${HEX_GROUPS}`,
].join('|');
