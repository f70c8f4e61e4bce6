export {
  Condition,
  type ConditionOptions,
  type ConditionOutcome,
  type ConditionScope,
  type ConditionType,
} from "./condition.js";
export { JsonTemplate } from "./json-template.js";
export { Template, type TemplateOptions } from "@carillon/core";
