export type { TestLine, TestProgress } from "./memory-notes.js";
export { TestKit, type TestKitOptions, type TestRun, type TestRunOptions } from "./test-kit.js";
