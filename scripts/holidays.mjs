// Writes the table of public holidays that comes with Carillon from the package date-holidays in tools/: all countries and regions, for the
// two years before this one and the ten after it. Takes about a minute. Run it once a year, and after an update of the package.
//   npm run holidays
//   npm run holidays -- --from 2024 --to 2036
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { formatCivilDay } from "../packages/core/dist/index.js";
import { PackageHolidays } from "../packages/engine/dist/calendars/public-holidays.js";
import { ensureTools } from "./tool.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = `${root}packages/engine/src/calendars/generated`;
const yearsBefore = 2;
const yearsAfter = 10;

ensureTools();
const tools = createRequire(`${root}tools/package.json`);
const Holidays = tools("date-holidays");
const packageFolder = tools.resolve("date-holidays").replace(/(?<=\/date-holidays\/).*/, "");
const { version } = JSON.parse(readFileSync(`${packageFolder}package.json`, "utf8"));

const thisYear = new Date().getUTCFullYear();
const { values } = parseArgs({
  options: {
    from: { type: "string", default: String(thisYear - yearsBefore) },
    to: { type: "string", default: String(thisYear + yearsAfter) },
  },
});
const [from, to] = [Number(values.from), Number(values.to)];
const years = Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Gives each distinct text a number, in the order of their first use. */
class Numbers {
  #known = new Map();

  of(text) {
    if (!this.#known.has(text)) this.#known.set(text, this.#known.size);
    return this.#known.get(text);
  }

  get texts() {
    return [...this.#known.keys()];
  }
}

const names = new Numbers();
const days = new Numbers();
const source = new PackageHolidays(Holidays);

/** The public holidays of a place as pairs of indices, "name:days". */
function pairsOf(place) {
  const found = new Map();
  for (const year of years)
    for (const { day, name, englishName, type } of source.holidays(place, year)) {
      if (type !== "public") continue;
      const key = JSON.stringify(name === englishName ? name : [name, englishName]);
      const ofYears = found.get(key) ?? new Map();
      const monthDays = [...(ofYears.get(year) ?? []), formatCivilDay(day).slice(5).replace("-", "")];
      found.set(key, ofYears.set(year, monthDays));
    }
  return [...found].map(([key, ofYears]) => `${names.of(key)}:${days.of(daysText(ofYears))}`);
}

/** The days of every year, or, if they differ between years, of each. */
function daysText(ofYears) {
  const texts = years.map((year) => (ofYears.get(year) ?? []).join(","));
  return texts.every((text) => text === texts[0]) ? texts[0] : texts.join(";");
}

function countryOf(directory, country) {
  const national = pairsOf({ country });
  const entry = { "": national.join(" ") };
  const states = Object.keys(directory.getStates(country) ?? {});
  const codes = states.flatMap((state) => [
    state,
    ...Object.keys(directory.getRegions(country, state) ?? {}).map((region) => `${state}-${region}`),
  ]);
  for (const code of codes) {
    const pairs = pairsOf({ country, region: code });
    const added = pairs.filter((pair) => !national.includes(pair));
    const lacking = national.filter((pair) => !pairs.includes(pair));
    entry[code] = `${added.join(" ")}|${lacking.join(" ")}`;
  }
  return entry;
}

const directory = new Holidays();
const countries = Object.keys(directory.getCountries())
  .toSorted()
  .map((country) => `${JSON.stringify(country)}: ${JSON.stringify(countryOf(directory, country))}`);
const list = (texts) => `[\n${texts.join(",\n")}\n]`;
const text = `{
"source": "date-holidays ${version}",
"from": ${from},
"to": ${to},
"names": ${list(names.texts)},
"days": ${list(days.texts.map((one) => JSON.stringify(one)))},
"countries": {
${countries.join(",\n")}
}
}
`;

const licence = readFileSync(`${packageFolder}LICENSE`, "utf8");
const attribution = /<attribution>\s*([\s\S]*?)\s*<\/attribution>/.exec(licence)?.[1];
if (attribution === undefined) throw new Error("the licence of date-holidays has no list of sources");
const notice = `The file public-holidays.json is licensed under CC BY-SA 3.0,
https://creativecommons.org/licenses/by-sa/3.0/legalcode, and not under the licence of the program that reads it.

It is derived from the data of date-holidays ${version}, https://github.com/commenthol/date-holidays, © its contributors, which are
available under the same licence. The public holidays of the years ${from} to ${to} were computed from them; other kinds of holidays,
and those that take only a part of a day, were left out.

The sources of the data, as date-holidays lists them:

${attribution}
`;

mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}/public-holidays.json`, text);
writeFileSync(`${folder}/public-holidays.LICENSE.txt`, notice);
console.log(
  `${countries.length} countries, ${from} to ${to}, ${(text.length / 1_000).toFixed(0)} kB: ${folder}/public-holidays.json`,
);
