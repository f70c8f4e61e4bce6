export {
  callbackLimits,
  keyPattern,
  labelKeyPattern,
  limits,
  namePattern,
  namespacesPattern,
  plainNameLength,
  plainNamePattern,
  policyTimeBounds,
  printablePattern,
  searchPathPattern,
  webAddressPattern,
  workerLimits,
} from "../bounds.js";
export { checkArgument, checkOptions, type OptionCall, optionsError } from "./check-options.js";
export { shown } from "./findings.js";
export {
  type DurationBounds,
  instantOf,
  type Option,
  option,
  type OptionHints,
  type OptionValue,
  type RequiredMark,
  type TimeInput,
} from "./option.js";
