export { Condition, type ConditionOptions, type ConditionOutcome } from "./condition.js";
export type { ConditionScope, ConditionType } from "./condition-values.js";
export { JsonTemplate } from "./json-template.js";
export { Template, type TemplateOptions } from "@carillon/core";
