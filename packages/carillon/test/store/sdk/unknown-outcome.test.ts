import { freshDatabase, TcpProxy } from "@carillon/testkit";
import { expect, it } from "vitest";
import { carillon } from "../../../src/index.js";

it("an enqueue in library mode whose answer is lost fails as outcome_unknown, and its run is stored once", async () => {
  const fresh = await freshDatabase({ migrated: true });
  const proxy = await TcpProxy.start(fresh.url);
  const app = carillon({ databaseUrl: proxy.through(fresh.url), roles: ["enqueue"] });
  const direct = carillon({ databaseUrl: fresh.url, roles: ["enqueue"] });
  try {
    await app.enqueue("unserved", { number: 1 });
    proxy.loseAnswerTo("run.insert_homogeneous");
    await expect(app.enqueue("unserved", { number: 2 })).rejects.toMatchObject({ code: "outcome_unknown" });
    // The dedupe key of the caller makes a repeated call safe.
    const once = { dedupe: { key: "order-3" } };
    proxy.loseAnswerTo("dedupe.insert");
    await expect(app.enqueue("unserved", { number: 3 }, once)).rejects.toMatchObject({ code: "outcome_unknown" });
    expect(await direct.enqueue("unserved", { number: 3 }, once)).toMatchObject({ isNew: false });
  } finally {
    await Promise.all([app.stop(), direct.stop()]);
    await proxy.close();
    await fresh.drop();
  }
});
