import type { Calendar, CalendarList, CalendarPut, PageQuery, Window, WindowList, WindowPut } from "@carillon/contract";
import { segment } from "./segment.js";
import type { CallOptions, ChangeOptions, Transport } from "./transport.js";

export interface CalendarCalls {
  get(name: string, options?: CallOptions): Promise<Calendar>;
  list(query?: PageQuery, options?: CallOptions): Promise<CalendarList>;
  put(name: string, calendar: CalendarPut, options?: ChangeOptions): Promise<Calendar>;
  delete(name: string, options?: ChangeOptions): Promise<void>;
}

export interface WindowCalls {
  get(name: string, options?: CallOptions): Promise<Window>;
  list(query?: PageQuery, options?: CallOptions): Promise<WindowList>;
  put(name: string, window: WindowPut, options?: CallOptions): Promise<Window>;
  delete(name: string, options?: CallOptions): Promise<void>;
}

export const calendarCalls = (call: Transport): CalendarCalls => namedCalls(call, "/v1/calendars");
export const windowCalls = (call: Transport): WindowCalls => namedCalls(call, "/v1/maintenance-windows");

/** Things that are put, read and deleted by their name. */
function namedCalls<Answer, List>(call: Transport, path: string) {
  const at = (name: string): string => `${path}/${segment(name)}`;
  return {
    get: (name: string, given: CallOptions = {}) => call<Answer>({ ...given, method: "GET", path: at(name) }),
    list: (query: PageQuery = {}, given: CallOptions = {}) => call<List>({ ...given, method: "GET", path, query }),
    put: (name: string, body: unknown, given: ChangeOptions = {}) =>
      call<Answer>({ ...given, method: "PUT", path: at(name), body }),
    delete: (name: string, given: ChangeOptions = {}) => call<void>({ ...given, method: "DELETE", path: at(name) }),
  };
}
