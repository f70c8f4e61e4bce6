import { connect } from "node:net";
import { checkedAddresses, faultsOf, PayloadReader } from "carillon";

/** @typedef {{ host: string, port: number, withinMs: number }} TcpCheck */

/**
 * Reads the payload and collects its faults.
 * @param {unknown} payload
 * @returns {TcpCheck}
 */
function read(payload) {
  const reader = new PayloadReader("tcp-check", payload);
  const check = {
    host: reader.requiredText("host", { max: 253, pattern: /^[A-Za-z0-9.-]+$/, words: "a host" }),
    port: reader.whole("port", 1, 65_535) ?? 0,
    withinMs: reader.duration("within", 60_000) ?? 5_000,
  };
  if (!reader.has("port")) reader.fault("port", "is required");
  reader.end();
  return check;
}

/**
 * @param {{ address: string, port: number, withinMs: number, signal: AbortSignal }} to
 * @param {import("carillon").ExecutorHost["timers"]} timers
 * @returns {Promise<void>}
 */
function connected({ address, port, withinMs, signal }, timers) {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port });
    /** @param {Error | null} error */
    const end = (error) => {
      timers.clearTimeout(timer);
      socket.destroy();
      if (error === null) resolve();
      else reject(error);
    };
    const timer = timers.setTimeout(() => end(new Error(`no connection within ${withinMs} ms`)), withinMs);
    signal.addEventListener("abort", () => end(signal.reason), { once: true });
    socket.once("connect", () => end(null));
    socket.once("error", end);
  });
}

/** @type {import("carillon").CreateExecutors} */
export const createExecutors = ({ timers, outbound, resolve }) => [
  {
    name: "tcp-check",
    check: (payload) => faultsOf(read, payload),
    run: async (payload, { signal, log }) => {
      const { host, port, withinMs } = read(payload);
      // Connect only to addresses that the rules of the worker allow.
      const [found] = await checkedAddresses(new URL(`tcp://${host}:${port}`), outbound, resolve);
      const startedAt = timers.monotonic();
      await connected({ address: found?.address ?? host, port, withinMs, signal }, timers);
      const tookMs = Math.round(timers.monotonic() - startedAt);
      log.info(`${host}:${port} answered in ${tookMs} ms`);
      return { host, port, took_ms: tookMs };
    },
  },
];
