/** One line of `carillon doctor`. */
export interface Finding {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  readonly detail: string;
  /** What to do about it; only where something is wrong. */
  readonly remedy?: string;
}

export const ok = (name: string, detail: string): Finding => ({ name, status: "ok", detail });

export const warn = (name: string, detail: string, remedy: string): Finding => ({
  name,
  status: "warn",
  detail,
  remedy,
});

export const fail = (name: string, detail: string, remedy: string): Finding => ({
  name,
  status: "fail",
  detail,
  remedy,
});
