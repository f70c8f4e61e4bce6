// A process of its own that is the command line: what `carillon dev` starts its workers by.
import { main } from "./main.js";

await main(process.argv.slice(2));
