import { InvalidArgumentError } from 'commander';

/** Parses an argument or the value of an option. */
export function notEmpty(value: string): string {
  if (value === '') throw new InvalidArgumentError('It must not be empty.');
  return value;
}
