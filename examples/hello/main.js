import { carillon, task } from "carillon";

const hello = task({
  name: "hello",
  run: ({ name }) => console.log(`hello ${name}`),
});

const app = carillon({ databaseUrl: process.env.DATABASE_URL });
await app.enqueue(hello, { name: "world" });
await app.runOnce({ tasks: [hello] });
await app.stop();
