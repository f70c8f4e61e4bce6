export type { TestLine, TestProgress } from "./handler-state.js";
export { TestKit } from "./test-kit.js";
export type { TestKitOptions, TestRun, TestRunOptions } from "./test-kit.js";
