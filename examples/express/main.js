import { Pool } from "pg";
import { confirmationTask, engineOver, schema, shop } from "./app.js";

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
pool.on("error", (error) => console.error("lost a connection:", error.message));
await pool.query(schema);

const engine = engineOver(pool);
const confirm = confirmationTask((order) => console.log(`order ${order} is confirmed`));
await engine.worker({ tasks: [confirm] }).start(); // SIGTERM drains

const server = shop({ pool, engine, confirm }).listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}`),
);
