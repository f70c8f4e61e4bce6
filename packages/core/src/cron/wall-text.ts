import { civilDateOf, SECONDS_PER_DAY } from "../zone/civil.js";

/** A wall-clock reading in seconds as ISO text without an offset: 2026-03-08T02:30:00. */
export function wallText(reading: number): string {
  const epochDay = Math.floor(reading / SECONDS_PER_DAY);
  const { year, month, day } = civilDateOf(epochDay);
  const second = reading - epochDay * SECONDS_PER_DAY;
  const time = [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60].map(two).join(":");
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T${time}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
