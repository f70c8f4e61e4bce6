export { emailExecutor, type OwnMailServer } from "./email/email-executor.js";
export type { OutgoingMail } from "./email/mail-server.js";
export { createExecutorHost, type HostOptions } from "./executor-host.js";
export { httpExecutor } from "./http/http-executor.js";
export { shellExecutor, type ShellOptions } from "./shell/shell-executor.js";
