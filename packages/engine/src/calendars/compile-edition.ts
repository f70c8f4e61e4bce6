import {
  type Calendar,
  type CalendarDefinition,
  CarillonError,
  compileCalendar,
  type HolidaySource,
} from "@carillon/core";
import { loadHolidays } from "./public-holidays.js";

export type LoadHolidays = () => Promise<HolidaySource>;

/** Compiles versions of calendars; the holidays of the world are loaded with the first that asks for some. */
export class CalendarCompiler {
  readonly #load: LoadHolidays;
  #holidays: Promise<HolidaySource> | null = null;

  constructor(load: LoadHolidays = loadHolidays) {
    this.#load = load;
  }

  /** Throws calendar_invalid, calendar_holidays_unavailable. */
  async compile(definition: CalendarDefinition, version: number): Promise<Calendar> {
    const isAboutHolidays = definition.rules.some((rule) => rule.kind === "holidays");
    if (!isAboutHolidays) return compileCalendar(definition, { version });
    this.#holidays ??= this.#load();
    try {
      return compileCalendar(definition, { version, holidays: await this.#holidays });
    } catch (error) {
      // The package may be installed by the next time.
      if (error instanceof CarillonError && error.code === "calendar_holidays_unavailable") this.#holidays = null;
      throw error;
    }
  }

  /** The same for one that was stored: what this node cannot compile throws when it is asked, not before. */
  async compileStored(definition: CalendarDefinition, version: number): Promise<Calendar> {
    try {
      return await this.compile(definition, version);
    } catch (error) {
      if (!(error instanceof CarillonError)) throw error;
      return brokenCalendar(definition.name, version, error);
    }
  }
}

function brokenCalendar(name: string, version: number, error: CarillonError): Calendar {
  const refuse = (): never => {
    throw error;
  };
  return { name, version, includes: refuse, reason: refuse, yearBits: refuse };
}
