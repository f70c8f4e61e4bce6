// A mail server for trials: it accepts every message and prints it.
import { createServer } from "node:net";
import { createInterface } from "node:readline";

const server = createServer((socket) => {
  let isMessage = false;
  const answer = (line) => socket.write(`${line}\r\n`);
  answer("220 mailbox");
  createInterface({ input: socket }).on("line", (line) => {
    if (isMessage && line === ".") {
      isMessage = false;
      answer("250 accepted");
    } else if (isMessage) console.log(line);
    else if (line.startsWith("DATA")) {
      isMessage = true;
      answer("354 end with a dot");
    } else if (line.startsWith("QUIT")) socket.end("221 bye\r\n");
    else answer("250 ok");
  });
  socket.on("error", (error) => console.error(error.message));
});
server.listen(Number(process.env.PORT ?? 2525), "127.0.0.1", () =>
  console.log(`mailbox at smtp://127.0.0.1:${server.address().port}`),
);
