import { carillon } from "carillon";
import { define, tasks } from "./chain.js";

const app = carillon(); // reads CARILLON_URL or CARILLON_DATABASE_URL
await define(app);
await app.worker({ tasks }).start(); // SIGTERM drains
console.log("serving; stop with Ctrl-C");
