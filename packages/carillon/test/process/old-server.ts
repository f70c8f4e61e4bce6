import { type Server, type Socket, createServer } from "node:net";

const message = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};

const int = (value: number, bytes: 2 | 4): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeIntBE(value, 0, bytes);
  return buffer;
};

const text = (value: string): Buffer => Buffer.from(`${value}\0`);

const TEXT = 25;
const INT = 23;
const BOOL = 16;

/** One row, each column with its type and its value as text. */
function row(columns: Readonly<Record<string, readonly [type: number, value: string]>>): Buffer {
  const fields = Object.entries(columns);
  const described = fields.flatMap(([name, [type]]) => [
    text(name),
    int(0, 4),
    int(0, 2),
    int(type, 4),
    int(-1, 2),
    int(-1, 4),
    int(0, 2),
  ]);
  const values = fields.flatMap(([, [, value]]) => [int(Buffer.byteLength(value), 4), Buffer.from(value)]);
  return Buffer.concat([
    message("T", int(fields.length, 2), ...described),
    message("D", int(fields.length, 2), ...values),
    message("C", text("SELECT 1")),
  ]);
}

const ready = message("Z", Buffer.from("I"));

/** A server that accepts every connection and answers every message with a greeting of the version that it claims. */
export function oldServer(version: string, versionNum: number): Server {
  const greeting = row({
    pid: [INT, "1"],
    version_num: [INT, String(versionNum)],
    version: [TEXT, version],
    standby: [BOOL, "f"],
    read_only: [BOOL, "f"],
  });
  return createServer((socket: Socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      const key = message("K", int(1, 4), int(1, 4));
      socket.write(
        Buffer.concat([message("R", int(0, 4)), message("S", text("server_version"), text(version)), key, ready]),
      );
      socket.on("data", (data) => {
        if (data.toString("latin1", 0, 1) === "Q") socket.write(Buffer.concat([greeting, ready]));
      });
    });
  });
}
