import { carillon, task } from "carillon";

const hello = task({
  name: "hello",
  run: ({ name }) => console.log(`hello ${name}`),
});

const databaseUrl = process.env.DATABASE_URL;
const app = carillon(databaseUrl ? { databaseUrl } : { dataDir: ".carillon" });
await app.enqueue(hello, { name: "world" });
await app.runOnce({ tasks: [hello] });
await app.stop();
