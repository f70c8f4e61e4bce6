/** The year that is simulated; by now every zone's rules for it are known. */
export const yearStart = Date.UTC(2026, 0, 1);
export const yearEnd = Date.UTC(2027, 0, 1);

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
