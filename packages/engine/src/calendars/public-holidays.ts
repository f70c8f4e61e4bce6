import {
  CarillonError,
  type CivilDay,
  type Holiday,
  type HolidayPlace,
  type HolidaySource,
  type HolidayType,
  parseCivilDay,
} from "@carillon/core";

/** What is used of the package. It is an optional peer, so its types may not be there. */
interface HolidaysPackage {
  readonly default: new (country?: string, state?: string, region?: string) => HolidaysOfPlace;
}

interface HolidaysOfPlace {
  getCountries(): Readonly<Record<string, string>>;
  getStates(country: string): Readonly<Record<string, string>> | undefined;
  getRegions(country: string, state: string): Readonly<Record<string, string>> | undefined;
  getHolidays(year: number): readonly {
    readonly date: string;
    readonly start: Date;
    readonly end: Date;
    readonly name: string;
    readonly type: HolidayType;
  }[];
}

const PACKAGE = "date-holidays";
const DAY_MS = 86_400_000;
/** A holiday that takes less of the day (an afternoon off) does not close it. A day is 23 hours on some dates. */
const WHOLE_DAY_MS = 20 * 3_600_000;
/** Years of places kept at once, some kilobytes each. */
const MAX_TABLES = 1_000;
const MAX_PLACES = 100;

/**
 * Loads the `date-holidays` package, which takes about a tenth of a second and 40 MB, and answers from it. A year of a
 * place takes some milliseconds to compute and is then kept. The data are under CC-BY-3.0 (docs/guides/calendars.md).
 */
export async function loadHolidays(load: () => Promise<unknown> = () => import(PACKAGE)): Promise<HolidaySource> {
  let loaded: unknown;
  try {
    loaded = await load();
  } catch (error) {
    throw new CarillonError(
      "calendar_holidays_unavailable",
      `calendars with public holidays need the package ${PACKAGE}, which is not installed: npm install ${PACKAGE}`,
      { cause: error },
    );
  }
  if (!isHolidaysPackage(loaded)) {
    throw new CarillonError(
      "calendar_holidays_unavailable",
      `the installed package ${PACKAGE} is not the one that is expected: npm install ${PACKAGE}@3`,
    );
  }
  return new DateHolidays(loaded);
}

function isHolidaysPackage(value: unknown): value is HolidaysPackage {
  return typeof value === "object" && value !== null && "default" in value && typeof value.default === "function";
}

class DateHolidays implements HolidaySource {
  readonly #package: HolidaysPackage;
  readonly #directory: HolidaysOfPlace;
  readonly #places = new Map<string, HolidaysOfPlace>();
  readonly #tables = new Map<string, readonly Holiday[]>();

  constructor(loaded: HolidaysPackage) {
    this.#package = loaded;
    this.#directory = new loaded.default();
  }

  problemWith(place: HolidayPlace): string | null {
    const { country, state, region } = codesOf(place);
    if (!Object.hasOwn(this.#directory.getCountries(), country)) {
      return `there are no holidays for the country "${place.country}": use a two-letter code such as "DE"`;
    }
    const states = this.#directory.getStates(country) ?? {};
    if (state !== undefined && spelling(states, state) === undefined) return unknownRegion(place, states);
    const regions =
      state === undefined ? {} : (this.#directory.getRegions(country, spelling(states, state) ?? "") ?? {});
    return region === undefined || spelling(regions, region) !== undefined ? null : unknownRegion(place, regions);
  }

  holidays(place: HolidayPlace, year: number): readonly Holiday[] {
    const key = `${year} ${place.country}-${place.region ?? ""}`.toUpperCase();
    const known = this.#tables.get(key);
    if (known !== undefined) return known;
    const inYear = [...this.#beginningIn(place, year - 1), ...this.#beginningIn(place, year)].filter(
      ({ day }) => new Date(day * DAY_MS).getUTCFullYear() === year,
    );
    const table = inYear.toSorted((one, other) => one.day - other.day);
    forgetOldest(this.#tables, MAX_TABLES);
    this.#tables.set(key, table);
    return table;
  }

  /** Holidays that begin in a year; some take several days, and so can end in the next. */
  #beginningIn(place: HolidayPlace, year: number): Holiday[] {
    return this.#of(place)
      .getHolidays(year)
      .flatMap(({ date, start, end, name, type }) => {
        const first = parseCivilDay(date.slice(0, 10));
        const lasts = end.getTime() - start.getTime();
        if (first === null || lasts < WHOLE_DAY_MS) return [];
        const days: CivilDay[] = Array.from({ length: Math.round(lasts / DAY_MS) }, (_, index) => first + index);
        return days.map((day) => ({ day, name, type }));
      });
  }

  #of(place: HolidayPlace): HolidaysOfPlace {
    const { country, state, region } = codesOf(place);
    const key = `${country}-${place.region ?? ""}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const states = this.#directory.getStates(country) ?? {};
    const stateCode = state === undefined ? undefined : spelling(states, state);
    const regions = stateCode === undefined ? {} : (this.#directory.getRegions(country, stateCode) ?? {});
    const regionCode = region === undefined ? undefined : spelling(regions, region);
    const created = new this.#package.default(country, stateCode, regionCode);
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

function unknownRegion({ country, region }: HolidayPlace, codes: Readonly<Record<string, string>>): string {
  const known = Object.keys(codes);
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
