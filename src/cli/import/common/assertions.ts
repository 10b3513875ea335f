import type {
  Assertion,
  AssertionSource,
  Comparison,
} from '../../../model/check/assertions/assertion.ts';

/** An assertion with its defaults. */
export function assertion(
  source: AssertionSource,
  comparison: Comparison,
  target = '',
  {
    property = '',
    regex = null,
  }: { readonly property?: string; readonly regex?: string | null } = {},
): Assertion {
  return { source, property, comparison, target, regex };
}

/** The assertion as a person would write it. */
export function shortAssertion({ source, property, comparison, target, regex }: Assertion): object {
  return {
    source,
    ...(property === '' ? {} : { property }),
    comparison,
    ...(target === '' ? {} : { target }),
    ...(regex === null ? {} : { regex }),
  };
}

/**
 * The JSONPath (RFC 9535) of a path of names and positions such as `.user.roles[0]` or `user.name`;
 * null for any other text. Names that are no plain words are put into brackets.
 */
export function jsonPathOf(path: string): string | null {
  let result = '$';
  let rest = path.replace(/^\$/, '');
  while (rest !== '') {
    const step = /^(?:\.?([^.[\]()*?$'"\s]+)|\[(\d{1,9})\])/.exec(rest);
    if (step === null) return null;
    const [whole, name, position] = step;
    if (position !== undefined) result += `[${position}]`;
    else if (/^[A-Za-z_]\w*$/.test(name ?? '')) result += `.${name}`;
    else result += `['${(name ?? '').replaceAll('\\', '\\\\')}']`;
    rest = rest.slice(whole.length);
  }
  return result;
}
