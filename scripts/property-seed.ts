import * as fc from "fast-check";

/**
 * Property tests draw the same cases on every run, so that a check that passed passes again. Other cases are tried on purpose:
 * `npm run properties` runs them with new seeds and prints the one that fails.
 */
const given = Number(process.env["CARILLON_PROPERTY_SEED"] ?? Number.NaN);

fc.configureGlobal({ seed: Number.isInteger(given) ? given : 20_261_115 });
