import { carillon } from "carillon";
import { define, pollingTask } from "./polling.js";

const app = carillon(); // reads CARILLON_URL or CARILLON_DATABASE_URL
const poll = pollingTask({ url: process.env.WEATHER_URL ?? "http://127.0.0.1:8080" });
await define(app, poll, ["Lagos", "Lima", "Lisbon"]);
await app.worker({ tasks: [poll] }).start(); // SIGTERM drains
console.log("serving; stop with Ctrl-C");
