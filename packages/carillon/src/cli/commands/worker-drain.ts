import { workerCommand } from "../input/worker-argument.js";

export const command = workerCommand(
  "drain",
  `
It is given nothing more, ends what it has within its grace time or gives it back, and leaves. A worker inside a node is
only given nothing more.

Example:
  $ carillon worker drain wrk_01k9zq3v5e0r8t2b7n4m6x1c9d`,
);
