import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** Columns by name, each with its type's OID and its value as text; or an SQLSTATE to refuse with. */
export type FakeAnswer =
  | { readonly columns: Readonly<Record<string, readonly [oid: number, value: string]>> }
  | { readonly sqlState: string };

const backendPid = 4242;

/** Answers the greeting as a server of the given version and role would. */
export function greetingAnswer(server: {
  versionNum?: number;
  version?: string;
  standby?: boolean;
  pid?: number;
}): FakeAnswer {
  return {
    columns: {
      pid: [23, String(server.pid ?? backendPid)],
      version_num: [23, String(server.versionNum ?? 180_000)],
      version: [25, server.version ?? "18.0"],
      standby: [16, server.standby === true ? "t" : "f"],
      read_only: [16, server.standby === true ? "t" : "f"],
    },
  };
}

/** Speaks just enough of the protocol for statements without parameters. Resolves with its port. */
export async function fakeServer(answer: (sql: string) => FakeAnswer): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    serve(socket, answer);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function serve(socket: Socket, answer: (sql: string) => FakeAnswer): void {
  let received = Buffer.alloc(0);
  let started = false;
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const lengthAt = started ? 1 : 0;
      if (received.length < lengthAt + 4) return;
      const end = lengthAt + received.readInt32BE(lengthAt);
      if (received.length < end) return;
      const message = received.subarray(0, end);
      received = received.subarray(end);
      if (!started) {
        started = true;
        socket.write(Buffer.concat([frame("R", int32(0)), frame("K", int32(backendPid), int32(1)), ready]));
      } else if (message[0] === 0x51) socket.write(reply(answer(message.toString("utf8", 5, end - 1))));
      else if (message[0] === 0x58) socket.end();
    }
  });
}

function reply(answer: FakeAnswer): Buffer {
  if ("sqlState" in answer) {
    const fields = `SERROR\0VERROR\0C${answer.sqlState}\0Mrefused by the fake server\0\0`;
    return Buffer.concat([frame("E", Buffer.from(fields)), ready]);
  }
  const columns = Object.entries(answer.columns);
  const described = columns.map(([name, [oid]]) =>
    Buffer.concat([Buffer.from(`${name}\0`), int32(0), int16(0), int32(oid), int16(-1), int32(-1), int16(0)]),
  );
  const values = columns.map(([, [, value]]) => Buffer.concat([int32(Buffer.byteLength(value)), Buffer.from(value)]));
  return Buffer.concat([
    frame("T", int16(columns.length), ...described),
    frame("D", int16(columns.length), ...values),
    frame("C", Buffer.from("SELECT 1\0")),
    ready,
  ]);
}

function frame(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

function int32(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

function int16(value: number): Buffer {
  const buffer = Buffer.alloc(2);
  buffer.writeInt16BE(value);
  return buffer;
}

const ready = frame("Z", Buffer.from("I"));
