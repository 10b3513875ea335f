import { InvalidArgumentError, Option } from 'commander';
import { OUTPUT_FORMATS } from './print/output-format.ts';

/** The argument of the commands that read a check file. */
export const CHECK_FILE = 'the check file (YAML or JSON)';

/** Refuses an empty value of an argument or option, which would have another meaning. */
export function notEmpty(value: string): string {
  if (value === '') throw new InvalidArgumentError('It must not be empty.');
  return value;
}

/** Collects the values of an option that may be given several times. */
export function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}

/** Parses a whole number from 1 to `max`. */
export function wholeNumberUpTo(max: number): (value: string) => number {
  return (value) => {
    const count = /^\d{1,9}$/.test(value) ? Number(value) : 0;
    if (count >= 1 && count <= max) return count;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };
}

/** @param what the noun for the content of one line of JSON */
export function outputOption(what: string): Option {
  return new Option('--output <format>', `pretty for people, json for one ${what} per line`)
    .choices(OUTPUT_FORMATS)
    .default('pretty');
}
