// Many jobs, one API, and no more calls than it allows, however many workers there are.
import { RetryAfterError, task } from "carillon";

/** `url` is the API's; `rate` what it allows. */
export function pollingTask({ url, rate = { limit: 60, per: "1m" }, onWeather = (_city, _weather) => {} }) {
  return task({
    name: "weather.poll",
    rateLimit: { key: "weather-api", ...rate },
    retry: { maxAttempts: 5 },
    run: async ({ city }, { signal }) => {
      const answer = await fetch(`${url}/weather?city=${encodeURIComponent(city)}`, { signal });
      if (answer.status === 429) {
        const seconds = Number(answer.headers.get("retry-after") ?? 60);
        throw new RetryAfterError("the API wants a pause", seconds * 1_000);
      }
      if (!answer.ok) throw new Error(`the API answered ${answer.status}`);
      const weather = await answer.json();
      onWeather(city, weather);
      return weather;
    },
  });
}

/** A job for each city, by its key: the same call can be made at every start. */
export async function define(app, poll, cities, every = "5m") {
  for (const city of cities) await app.schedule(poll, `weather.${city}`, { every, payload: { city } });
}
