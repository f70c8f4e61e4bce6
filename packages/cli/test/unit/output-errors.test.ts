import { expect, it } from "vitest";
import { outputErrorMessage } from "../../src/io.js";

it("a pipe closed by its reader is no failure; output that cannot be written is one", () => {
  const failed = (code: string): Error => Object.assign(new Error(`write ${code}`), { code });
  expect(outputErrorMessage(failed("EPIPE"))).toBeNull();
  expect(outputErrorMessage(failed("ENOSPC"))).toBe("carillon: Not all of the output could be written: write ENOSPC");
});
