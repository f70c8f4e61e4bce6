// Many jobs call one API, within its rate limit, with any number of workers.
import { RetryAfterError, task } from "carillon";

/** `url` is the address of the API, `rate` its limit. */
export function pollingTask({ url, rate = { limit: 60, per: "1m" }, onWeather = (_city, _weather) => {} }) {
  return task({
    name: "weather.poll",
    rateLimit: { key: "weather-api", ...rate },
    retry: { maxAttempts: 5 },
    run: async ({ city }, { signal }) => {
      const answer = await fetch(`${url}/weather?city=${encodeURIComponent(city)}`, { signal });
      if (answer.status === 429) throw new RetryAfterError(`${answer.headers.get("retry-after") ?? 60}s`);
      if (!answer.ok) throw new Error(`the API answered ${answer.status}`);
      const weather = await answer.json();
      onWeather(city, weather);
      return weather;
    },
  });
}

/** Creates one job per city, identified by its key: calling it again at the next start changes nothing. */
export async function define(app, poll, cities, every = "5m") {
  for (const city of cities) await app.schedule(poll, `weather.${city}`, { every, payload: { city } });
}
