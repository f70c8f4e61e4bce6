import { carillon } from "carillon";
import { eventTask, publish } from "./orders.js";

const app = carillon(); // reads CARILLON_URL or CARILLON_DATABASE_URL
const onEvent = eventTask(({ order, kind }) => console.log(`order ${order}: ${kind}`));
await app.worker({ tasks: [onEvent] }).start(); // SIGTERM drains
await publish(app, onEvent, [
  { order: 1, kind: "placed" },
  { order: 2, kind: "placed" },
  { order: 1, kind: "paid" },
  { order: 1, kind: "shipped" },
]);
