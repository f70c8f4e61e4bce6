import { EventEmitter, once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { apiUnderTest } from "./api-under-test.js";

describe("closing the API", () => {
  it("the API closes after its requests in flight, without waiting for idle connections", async () => {
    const gate = new EventEmitter();
    const ready = async (): Promise<readonly []> => {
      gate.emit("asked");
      await once(gate, "open");
      return [];
    };
    const { app } = apiUnderTest({ health: { ready } });
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    const unused = connect(Number(new URL(url).port), "127.0.0.1");
    await once(unused, "connect");
    const asked = once(gate, "asked");
    const answer = fetch(`${url}/readyz`);
    await asked;
    const closed = app.close();
    await once(unused, "close");
    gate.emit("open");
    expect((await answer).status).toBe(200);
    await closed;
  });
});
