import { createRequire } from "node:module";
import { join } from "node:path";
import {
  CarillonError,
  type CivilDay,
  type Holiday,
  type HolidayPlace,
  type HolidayProblem,
  type HolidaySource,
  type HolidayType,
  parseCivilDay,
} from "@carillon/core";
import { HolidayTable } from "./holiday-table.js";

/** What is used of the package. It is an optional peer, so its types may not be there. */
type HolidaysPackage = new (
  country?: string,
  state?: string,
  region?: string,
  options?: { readonly languages: readonly string[] },
) => HolidaysOfPlace;

interface HolidaysOfPlace {
  getCountries(): Readonly<Record<string, string>>;
  getStates(country: string): Readonly<Record<string, string>> | undefined;
  getRegions(country: string, state: string): Readonly<Record<string, string>> | undefined;
  getHolidays(year: number): readonly HolidayOfPackage[];
}

interface HolidayOfPackage {
  readonly date: string;
  readonly start: Date;
  readonly end: Date;
  readonly name: string;
  readonly rule: string;
  readonly type: HolidayType;
}

const PACKAGE = "date-holidays";
const DAY_MS = 86_400_000;
/** A holiday that takes less of the day (an afternoon off) does not close it. A day is 23 hours on some dates. */
const WHOLE_DAY_MS = 20 * 3_600_000;
/** Years of places kept at once, some kilobytes each. */
const MAX_TABLES = 1_000;
const MAX_PLACES = 100;

/** Returns the package `date-holidays`; null: it is not installed. */
export type FindHolidaysPackage = () => unknown;

/**
 * Public holidays are those of the table that comes with Carillon. Other kinds of holidays, and years outside the table, are those of the
 * package `date-holidays` if it is installed. A node with the package and one without it have the same public holidays in the years of the table.
 */
export function loadHolidays(find: FindHolidaysPackage = installedPackage): HolidaySource {
  return new WorldHolidays(new HolidayTable(), find);
}

/** From the working directory first: a command line that npx or a global install started is not in the project. Takes a tenth of a second. */
function installedPackage(): unknown {
  for (const base of [join(process.cwd(), "package.json"), import.meta.url]) {
    const require = createRequire(base);
    try {
      require.resolve(PACKAGE);
    } catch {
      continue;
    }
    return require(PACKAGE) as unknown;
  }
  return null;
}

class WorldHolidays implements HolidaySource {
  readonly #table: HolidayTable;
  readonly #find: FindHolidaysPackage;
  readonly #tables = new Map<string, readonly Holiday[]>();
  #package: PackageHolidays | null | undefined;

  constructor(table: HolidayTable, find: FindHolidaysPackage) {
    this.#table = table;
    this.#find = find;
  }

  problemWith(place: HolidayPlace, types: readonly HolidayType[]): HolidayProblem | null {
    const inTable = this.#table.has(place);
    if (inTable && types.every((type) => type === "public")) return null;
    const found = this.#installed();
    if (found !== null) return invalid(found.problemWith(place));
    if (!inTable) return invalid(unknownInTable(this.#table, place));
    const other = types.find((type) => type !== "public") ?? "";
    return {
      code: "calendar_holidays_unavailable",
      message: `without the package ${PACKAGE} only public holidays are known, and the rule has "${other}" ones: npm install ${PACKAGE}`,
    };
  }

  knownYears(types: readonly HolidayType[]): ReturnType<HolidaySource["knownYears"]> {
    if (!types.includes("public") || this.#installed() !== null) return null;
    return { ...this.#table.years, remedy: `npm install ${PACKAGE}` };
  }

  holidays(place: HolidayPlace, year: number, types: readonly HolidayType[]): readonly Holiday[] {
    const key = `${year} ${place.country}-${place.region ?? ""} ${types.join()}`.toUpperCase();
    const known = this.#tables.get(key);
    if (known !== undefined) return known;
    const { from, to } = this.#table.years;
    const inTable = types.every((type) => type === "public") && from <= year && year <= to && this.#table.has(place);
    const all = inTable ? this.#table.holidays(place, year) : (this.#installed()?.holidays(place, year) ?? []);
    const table = all.filter(({ type }) => types.includes(type));
    forgetOldest(this.#tables, MAX_TABLES);
    this.#tables.set(key, table);
    return table;
  }

  #installed(): PackageHolidays | null {
    if (this.#package !== undefined) return this.#package;
    const found = this.#find();
    const exported = typeof found === "object" && found !== null && "default" in found ? found.default : found;
    if (found !== null && typeof exported !== "function") {
      throw new CarillonError(
        "calendar_holidays_unavailable",
        `the installed package ${PACKAGE} is not the one that is expected: npm install ${PACKAGE}@3`,
      );
    }
    this.#package = found === null ? null : new PackageHolidays(exported as HolidaysPackage);
    return this.#package;
  }
}

function invalid(message: string | null): HolidayProblem | null {
  return message === null ? null : { code: "calendar_invalid", message };
}

function unknownInTable(table: HolidayTable, place: HolidayPlace): string {
  const { country, region } = place;
  if (!table.has({ country })) return unknownCountry(country, table.countries);
  const [state = "", finer] = region?.split("-") ?? [];
  const isStateKnown = table.has({ country, region: state });
  return unknownRegion(
    place,
    table.regions(isStateKnown && finer !== undefined ? { country, region: state } : { country }),
  );
}

/** The holidays of the package `date-holidays`. */
export class PackageHolidays {
  readonly #package: HolidaysPackage;
  readonly #directory: HolidaysOfPlace;
  readonly #places = new Map<string, HolidaysOfPlace>();

  constructor(exported: HolidaysPackage) {
    this.#package = exported;
    this.#directory = new exported();
  }

  problemWith(place: HolidayPlace): string | null {
    const { country, state, region } = codesOf(place);
    const countries = this.#directory.getCountries();
    if (!Object.hasOwn(countries, country)) return unknownCountry(place.country, Object.keys(countries));
    const states = this.#directory.getStates(country) ?? {};
    if (state !== undefined && spelling(states, state) === undefined) return unknownRegion(place, Object.keys(states));
    const regions =
      state === undefined ? {} : (this.#directory.getRegions(country, spelling(states, state) ?? "") ?? {});
    return region === undefined || spelling(regions, region) !== undefined
      ? null
      : unknownRegion(place, Object.keys(regions));
  }

  /** All whole-day holidays of the year, of any type, in order. */
  holidays(place: HolidayPlace, year: number): readonly Holiday[] {
    return [...this.#beginningIn(place, year - 1), ...this.#beginningIn(place, year)]
      .filter(({ day }) => new Date(day * DAY_MS).getUTCFullYear() === year)
      .toSorted((one, other) => one.day - other.day);
  }

  /** Holidays that begin in a year; some take several days, and so can end in the next. */
  #beginningIn(place: HolidayPlace, year: number): Holiday[] {
    const holidays = this.#of(place);
    const keyOf = ({ rule, date }: HolidayOfPackage): string => `${rule} ${date}`;
    const english = new Map(
      this.#of(place, "en")
        .getHolidays(year)
        .map((one) => [keyOf(one), one.name]),
    );
    return holidays.getHolidays(year).flatMap((one) => {
      const { date, start, end, name, type } = one;
      const first = parseCivilDay(date.slice(0, 10));
      const lasts = end.getTime() - start.getTime();
      if (first === null || lasts < WHOLE_DAY_MS) return [];
      const days: CivilDay[] = Array.from({ length: Math.round(lasts / DAY_MS) }, (_, index) => first + index);
      return days.map((day) => ({ day, name, englishName: english.get(keyOf(one)) ?? name, type }));
    });
  }

  /** In the language of the place unless another one is given. */
  #of(place: HolidayPlace, language?: string): HolidaysOfPlace {
    const { country, state, region } = codesOf(place);
    const key = `${country}-${place.region ?? ""} ${language ?? ""}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const states = this.#directory.getStates(country) ?? {};
    const stateCode = state === undefined ? undefined : spelling(states, state);
    const regions = stateCode === undefined ? {} : (this.#directory.getRegions(country, stateCode) ?? {});
    const regionCode = region === undefined ? undefined : spelling(regions, region);
    const created = new this.#package(
      country,
      stateCode,
      regionCode,
      language === undefined ? undefined : { languages: [language] },
    );
    forgetOldest(this.#places, MAX_PLACES);
    this.#places.set(key, created);
    return created;
  }
}

function codesOf({ country, region }: HolidayPlace): { country: string; state?: string; region?: string } {
  const [state, finer] = region?.split("-") ?? [];
  return {
    country: country.toUpperCase(),
    ...(state === undefined ? {} : { state }),
    ...(finer === undefined ? {} : { region: finer }),
  };
}

/** The package's own spelling of a code: some are in capitals, some are not. */
function spelling(codes: Readonly<Record<string, string>>, wanted: string): string | undefined {
  return Object.keys(codes).find((code) => code.toUpperCase() === wanted.toUpperCase());
}

function unknownCountry(country: string, known: readonly string[]): string {
  return `there are no holidays for the country "${country}": use one of ${known.join(", ")}`;
}

function unknownRegion({ country, region }: HolidayPlace, known: readonly string[]): string {
  const remedy = known.length === 0 ? "it has none there: leave the region out" : `use one of ${known.join(", ")}`;
  return `there are no holidays for the region "${region}" of ${country.toUpperCase()}: ${remedy}`;
}

/** A Map keeps its insertion order: the first key is the oldest. */
function forgetOldest(cache: Map<string, unknown>, most: number): void {
  if (cache.size < most) return;
  for (const key of cache.keys()) {
    cache.delete(key);
    return;
  }
}
