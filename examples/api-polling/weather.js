// A stand-in for the weather API.
import { createServer } from "node:http";

const server = createServer((request, response) => {
  const city = new URL(request.url, "http://localhost").searchParams.get("city");
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ city, celsius: 21 }));
});
server.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () =>
  console.log(`weather at http://127.0.0.1:${server.address().port}`),
);
