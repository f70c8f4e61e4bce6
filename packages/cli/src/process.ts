// A process of its own that is the command line: what `carillon dev` starts its workers by. It reports the imported files to its parent.
import { main } from "./main.js";

await main(process.argv.slice(2), { onImport: (file) => void process.send?.(file) });
