import fc from 'fast-check';

/**
 * Any UTF-16 units. fast-check's own arbitrary builds a table of all characters first, which takes
 * a second.
 */
export const anyText = (maxLength: number): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof(fc.nat(0xff), fc.nat(0xffff)), { maxLength })
    .map((units) => String.fromCharCode(...units));

/** Wrong values, besides those of fast-check. */
const NASTY: readonly unknown[] = [
  ...[null, true, false, 0, -0, -1, 1, 0.5, 1e21, 2 ** 53, -(2 ** 31), 65_536, 1e308, 5e-324],
  ...['', ' ', '0', 'true', 'null', '1e3', 'http://', 'http://h:99999999/', 'file:///etc/passwd'],
  ...['\0', '\ud800', '\u202e', 'a\nb', '\u001b[31m', '{{', '{{TOKEN}}', '{{__proto__}}', '$..[?('],
  ...['(a+)+$', '[', '\\', '*', '__proto__', 'constructor', '../..', 'xn--', '::1%lo', '1.2.3.4.5'],
  ...[
    [],
    {},
    [[]],
    [null],
    [{}],
    { key: null },
    { __proto__: null },
    { length: 1 },
    { toString: 1 },
  ],
  ...[
    'x'.repeat(300),
    'x'.repeat(3000),
    'é'.repeat(21_000),
    Array.from({ length: 150 }, () => 'a'),
  ],
  JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
  Object.fromEntries(Array.from({ length: 60 }, (_, number) => [`k${number}`, number])),
  JSON.parse(`${'['.repeat(49)}${']'.repeat(49)}`),
  JSON.parse(`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`),
];

const nasty: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...NASTY) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  { weight: 1, arbitrary: anyText(30) },
  { weight: 1, arbitrary: fc.double() },
);

const strangeKey = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', '', ' ', 'a.b', 'x:y'),
  fc.constantFrom('<<', 'requset', 'checktype', 'Id', 'frequencyOffse', 'k'.repeat(2000), 'a\nb'),
  anyText(12),
);

type KeepsName = (value: unknown) => boolean;
type Holder = unknown[] | Record<string, unknown>;
type ValueChange = (holder: Holder, step: string | number, keepsName: KeepsName) => void;

const valueChange: fc.Arbitrary<ValueChange> = fc.oneof(
  {
    weight: 5,
    arbitrary: nasty.map(
      (value): ValueChange =>
        (holder, step) =>
          set(holder, step, structuredClone(value)),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constant<ValueChange>((holder, step) => {
      if (Array.isArray(holder)) holder.splice(Number(step), 1);
      else delete holder[step];
    }),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(strangeKey, nasty).map(
      ([key, value]): ValueChange =>
        (holder) => {
          if (Array.isArray(holder)) holder.push(structuredClone(value));
          else set(holder, key, structuredClone(value));
        },
    ),
  },
  {
    weight: 1,
    arbitrary: strangeKey.map(
      (key): ValueChange =>
        (holder, step, keepsName) => {
          if (Array.isArray(holder) || keepsName(holder[step])) return;
          const value = holder[step];
          delete holder[step];
          set(holder, key, value);
        },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.nat(3).map(
      (times): ValueChange =>
        (holder, step) => {
          if (!Array.isArray(holder)) return;
          for (let n = 0; n <= times; n += 1) holder.push(structuredClone(holder[Number(step)]));
        },
    ),
  },
);

/** Unlike assignment, this makes `__proto__` an ordinary key. */
function set(holder: Holder, step: string | number, value: unknown) {
  Object.defineProperty(holder, step, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/** Walks down by the shares, and stops at one of the values on the path. */
function changeAt(
  root: unknown,
  shares: readonly number[],
  apply: (holder: Holder, step: string | number) => void,
): void {
  let holder = root;
  for (const [index, share] of shares.entries()) {
    if (typeof holder !== 'object' || holder === null) return;
    const steps = Array.isArray(holder) ? [...holder.keys()] : Object.keys(holder);
    const step = steps[Math.floor((share * steps.length) / 256)];
    if (step === undefined) return;
    const next: unknown = Reflect.get(holder, step);
    const isEnd = index === shares.length - 1 || typeof next !== 'object' || next === null;
    if (isEnd) {
      apply(holder as Holder, step);
      return;
    }
    holder = next;
  }
}

/**
 * One of the values with parts replaced, removed, added, renamed and duplicated. JSON values stay
 * JSON values.
 *
 * @param keepsName whether values may not move to another key
 */
export function changedValue(
  values: readonly unknown[],
  keepsName: KeepsName = () => false,
): fc.Arbitrary<unknown> {
  const place = fc.array(fc.nat(255), { minLength: 1, maxLength: 6 });
  const changes = fc.array(fc.tuple(place, valueChange), { minLength: 1, maxLength: 3 });
  return fc.tuple(fc.constantFrom(...values), changes).map(([given, list]) => {
    // In a list of one, so that the whole value can change, too.
    const root = [structuredClone(given)];
    for (const [shares, apply] of list) {
      changeAt(root, [0, ...shares], (holder, step) => apply(holder, step, keepsName));
    }
    return root[0] ?? null;
  });
}
