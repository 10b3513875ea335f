import { StoreError } from './store-errors.ts';

type Parse = (text: string) => unknown;

/** PostgreSQL's type OIDs: src/include/catalog/pg_type.dat. */
const OID = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  text: 25,
  oid: 26,
  json: 114,
  float4: 700,
  float8: 701,
  date: 1082,
  timestamp: 1114,
  timestamptz: 1184,
  jsonb: 3802,
} as const;

/** Element type of each array type. */
const ARRAYS: Readonly<Record<number, number>> = {
  199: OID.json,
  1000: OID.bool,
  1001: OID.bytea,
  1005: OID.int2,
  1007: OID.int4,
  1009: OID.text,
  1015: OID.text,
  1016: OID.int8,
  1021: OID.float4,
  1022: OID.float8,
  1028: OID.oid,
  1115: OID.timestamp,
  1182: OID.date,
  1185: OID.timestamptz,
  1231: OID.text,
  2951: OID.text,
  3807: OID.jsonb,
};

const asText: Parse = (text) => text;

const SCALARS: Readonly<Record<number, Parse>> = {
  [OID.bool]: (text) => text === 't',
  [OID.bytea]: (text) => Buffer.from(text.slice(2), 'hex'),
  [OID.int8]: safeInteger,
  [OID.int2]: Number,
  [OID.int4]: Number,
  [OID.oid]: Number,
  [OID.float4]: Number,
  [OID.float8]: Number,
  [OID.json]: (text) => JSON.parse(text),
  [OID.jsonb]: (text) => JSON.parse(text),
  [OID.timestamptz]: instant,
  // Named so that no driver parses them.
  [OID.date]: asText,
  [OID.timestamp]: asText,
};

/** Parsers by type; other types stay text. */
export const PARSERS: Readonly<Record<number, Parse>> = {
  ...SCALARS,
  ...Object.fromEntries(
    Object.entries(ARRAYS).map(([oid, element]) => {
      const parse = SCALARS[element] ?? asText;
      return [oid, (text: string) => parseArray(text, parse)];
    }),
  ),
};

export function parserOf(oid: number): Parse {
  return PARSERS[oid] ?? asText;
}

/** A parameter as both drivers accept it: see `Param`. */
export function encodeParam(value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'object') return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length);
  if (Array.isArray(value)) return value.map(encodeParam);
  return jsonText(value);
}

/** Escapes that PostgreSQL cannot store, unless their backslash itself is escaped. */
const UNSTORABLE = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;

/**
 * JSON for a json or jsonb parameter. U+0000 and lone surrogates, which PostgreSQL cannot store,
 * become U+FFFD: a target may send them, and its result must be stored anyway.
 */
export function jsonText(value: unknown): string {
  const text = value === undefined ? 'null' : JSON.stringify(value);
  if (!text.includes('\\u')) return text;
  return text.replace(UNSTORABLE, '$1\ufffd');
}

function safeInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  const message = `the whole number ${text} is beyond 2^53: cast it to text or double precision`;
  throw new StoreError('internal', 'STORE_INEXACT', message);
}

/** `2026-01-02 03:04:05.678901+00`: every session has the time zone UTC. */
function instant(text: string): Date {
  const date = new Date(`${text.slice(0, -3).replace(' ', 'T')}Z`);
  if (text.endsWith('+00') && !Number.isNaN(date.getTime())) return date;
  const message = `the time ${text} is not one that JavaScript has, or not in UTC`;
  throw new StoreError('internal', 'STORE_INEXACT', message);
}

/** Parses an array of one dimension in the format of array_out (PostgreSQL manual 8.15.6). */
function parseArray(text: string, parse: Parse): unknown[] {
  const values: unknown[] = [];
  const element = /(?:"((?:[^"\\]|\\.)*)"|([^,{}"]+))[,}]/gs;
  element.lastIndex = text.indexOf('{') + 1;
  for (let match = element.exec(text); match !== null; match = element.exec(text)) {
    const [, quoted, plain = ''] = match;
    if (quoted !== undefined) values.push(parse(quoted.replace(/\\(.)/gs, '$1')));
    else values.push(plain === 'NULL' ? null : parse(plain));
  }
  return values;
}
