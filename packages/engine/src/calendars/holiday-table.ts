import { readFileSync } from "node:fs";
import { type CivilDay, epochDayOf, type Holiday, type HolidayPlace } from "@carillon/core";

/** What `scripts/holidays.mjs` writes. */
export interface HolidayTableFile {
  /** The package and the version that the holidays are from. */
  readonly source: string;
  readonly from: number;
  readonly to: number;
  /** A name, or the local name and the English one. */
  readonly names: readonly (string | readonly [string, string])[];
  /** Days as MMDD: those of every year, or those of each year from `from` on, separated by semicolons. */
  readonly days: readonly string[];
  /** By country and region. Holidays are "name:days" pairs of indices; a region has those that it adds, "|", and those that it lacks. */
  readonly countries: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const file = new URL("../../src/calendars/generated/public-holidays.json", import.meta.url);

/** Public holidays of the world for some years, which come with Carillon. */
export class HolidayTable {
  readonly #file: HolidayTableFile;

  constructor(content: HolidayTableFile = JSON.parse(readFileSync(file, "utf8")) as HolidayTableFile) {
    this.#file = content;
  }

  get years(): { readonly from: number; readonly to: number } {
    return this.#file;
  }

  get countries(): readonly string[] {
    return Object.keys(this.#file.countries);
  }

  /** The codes of the regions below a country, or below one of its regions. */
  regions({ country, region }: HolidayPlace): readonly string[] {
    const codes = Object.keys(this.#file.countries[country.toUpperCase()] ?? {}).filter((code) => code !== "");
    if (region === undefined) return codes.filter((code) => !code.includes("-"));
    const prefix = `${region.toUpperCase()}-`;
    return codes.filter((code) => code.toUpperCase().startsWith(prefix)).map((code) => code.slice(prefix.length));
  }

  has(place: HolidayPlace): boolean {
    return this.#entry(place) !== undefined;
  }

  /** In order of the days. The place and the year are in the table. */
  holidays(place: HolidayPlace, year: number): readonly Holiday[] {
    const own = this.#entry(place) ?? "";
    const [added = "", lacking = ""] = own.split("|");
    const national = place.region === undefined ? "" : (this.#file.countries[place.country.toUpperCase()]?.[""] ?? "");
    const isLacking = new Set(pairs(lacking));
    return [...pairs(national).filter((pair) => !isLacking.has(pair)), ...pairs(added)]
      .flatMap((pair) => this.#holidaysOf(pair, year))
      .toSorted((one, other) => one.day - other.day);
  }

  #entry({ country, region = "" }: HolidayPlace): string | undefined {
    const regions = this.#file.countries[country.toUpperCase()] ?? {};
    const code = Object.keys(regions).find((one) => one.toUpperCase() === region.toUpperCase());
    return code === undefined ? undefined : regions[code];
  }

  #holidaysOf(pair: string, year: number): Holiday[] {
    const [name, days] = pair.split(":").map(Number);
    const named = this.#file.names[name ?? -1] ?? "";
    const [local, english] = typeof named === "string" ? [named, named] : named;
    const years = (this.#file.days[days ?? -1] ?? "").split(";");
    const text = years.length === 1 ? years[0] : years[year - this.#file.from];
    const inYear = text === undefined || text === "" ? [] : text.split(",");
    return inYear.map((monthDay) => ({
      day: dayOf(year, monthDay),
      name: local,
      englishName: english,
      type: "public",
    }));
  }
}

function pairs(text: string): string[] {
  return text === "" ? [] : text.split(" ");
}

function dayOf(year: number, monthDay: string): CivilDay {
  return epochDayOf(year, Number(monthDay.slice(0, 2)), Number(monthDay.slice(2)));
}
