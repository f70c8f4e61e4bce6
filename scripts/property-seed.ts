import * as fc from "fast-check";

/**
 * Property tests use a fixed seed, so that repeated runs have the same result. `npm run properties` runs them with new seeds and prints
 * a seed that fails.
 */
const seed = Number(process.env["CARILLON_PROPERTY_SEED"] ?? Number.NaN);

fc.configureGlobal({ seed: Number.isInteger(seed) ? seed : 20_261_115 });
