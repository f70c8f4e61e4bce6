// Judges the built product: `node scripts/build.mjs tsconfig.json chaos && node chaos/chaos.mjs --short`.
const { main } = await import("./dist/chaos/src/main.js");
// Not exitCode: a socket that a proxy reset while it was being opened can hold the process for minutes.
process.exit(await main(process.argv.slice(2)));
