import { InvalidArgumentError } from "commander";

/** For commander: a whole number in a range, or a usage error. */
export function wholeNumber(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

/** The same for any number. */
export function numberWithin(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
  };
}
