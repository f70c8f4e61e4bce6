import { carillon } from "carillon";
import { define, tasks } from "./chain.js";

const app = carillon(); // CARILLON_DATABASE_URL or CARILLON_URL says where
await define(app);
await app.worker({ tasks }).start(); // SIGTERM drains
console.log("serving; stop with Ctrl-C");
