import { carillon } from "carillon";
import { define, report } from "./jobs.js";

const app = carillon(); // reads CARILLON_URL or CARILLON_DATABASE_URL
for (const { id, nextRunAt } of await define(app)) console.log(`${id} next at ${nextRunAt?.toISOString()}`);
await app.worker({ tasks: [report] }).start(); // SIGTERM drains
console.log("serving; stop with Ctrl-C");
