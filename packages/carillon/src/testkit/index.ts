export type { TestLine, TestProgress } from "./memory-notes.js";
export { TestKit, type TestKitOptions, type TestRun } from "./test-kit.js";
