export type { TestLine, TestProgress } from "./memory-notes.js";
export { TestKit } from "./test-kit.js";
export type { TestKitOptions, TestRun, TestRunOptions } from "./test-run.js";
