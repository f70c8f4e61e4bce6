import { describe, expect, it } from "vitest";
import { EverySecond } from "../../process/every-second.js";
import { expectWhole } from "../../process/expect-whole.js";
import { FakeClock, fakeTimeLibrary } from "../../process/fake-clock.js";
import { NodeCluster } from "../../process/node-cluster.js";
import { scratchDir } from "../../process/scratch.js";
import { createJob, jobStatus } from "../../process/server.js";

if (fakeTimeLibrary === null) {
  console.log(
    "tests of nodes whose clock is wrong are skipped: libfaketime is not installed (as root: scripts/servers/libfaketime.sh install)",
  );
}

const HOUR = 3_600;

describe.skipIf(fakeTimeLibrary === null)("a node whose clock is wrong", () => {
  it.each([
    ["an hour ahead", HOUR, HOUR],
    ["an hour behind", -HOUR, -HOUR],
    ["right, and then an hour back while it runs", 0, -HOUR],
  ])(
    "(%s) fires nothing early and nothing twice, reports its clock, and leaves its shards to a node whose clock is right [INV-5] [INV-9] [INV-11]",
    async (_, atStart, later) => {
      const clock = new FakeClock(await scratchDir(), atStart);
      const cluster = await NodeCluster.start([]);
      const wrong = await cluster.add("wrong", { env: clock.env });
      // A single node keeps the shards: otherwise no node would fire.
      await cluster.untilShared("wrong");
      const jobs = await EverySecond.start(cluster, wrong.url, 8);
      const soon = await createJob(wrong.url, { task: "echo", schedule: { delay: "30m" } });
      clock.set(later);
      await wrong.logged("clock.skewed");
      await jobs.goOn();

      await cluster.add("right");
      await cluster.untilShared("right");
      await expectWhole(cluster, jobs);
      expect(await jobStatus(wrong.url, soon)).toBe("scheduled");
      const [row] = await cluster.rows<{ skew: number }>(
        "select skew_ms as skew from carillon.node where name = 'wrong'",
      );
      expect(Math.round((row?.skew ?? 0) / 60_000)).toBe(later / 60);
      expect(Math.round((await wrong.metric("carillon_clock_skew_seconds")) / 60)).toBe(later / 60);

      clock.set(0);
      await wrong.logged("clock.in_sync");
      await cluster.untilShared("right", "wrong");
      await expectWhole(cluster, jobs);
    },
  );
});
