import { expect, it } from "vitest";
import { listeningInodes } from "../../../src/services/api-service.js";

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F57 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0
   1: 0100007F:1F57 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 20 4 30 10 -1
   2: 0100007F:1F58 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0 100 0 0 10 0
`;

it("finds the sockets that listen on a port, and not those connected to it", () => {
  expect(listeningInodes(table, 8023)).toEqual(["4711"]);
});

it("finds no socket for an unused port, or without a table", () => {
  expect(listeningInodes(table, 80)).toEqual([]);
  expect(listeningInodes("", 8023)).toEqual([]);
});
