export { emailExecutor } from "./email/email-executor.js";
export { executorNames } from "./executor-names.js";
export { createExecutorHost, type HostOptions } from "./executor-host.js";
export { httpExecutor } from "./http/http-executor.js";
export { shellExecutor, type ShellOptions } from "./shell/shell-executor.js";
