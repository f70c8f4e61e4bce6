import type { Timers } from "@carillon/core";
import { createPoster } from "../post.js";
import { Beater } from "./beater.js";
import type { Heart } from "./heart.js";

/** Beats on the loop of its caller: who blocks that loop for too long loses the session. */
export function loopHeart(timers: Timers): Heart {
  return (options) => {
    const poster = createPoster(options);
    let acknowledged = 0;
    let isHolding = false;
    let polls = 0;
    const onAcknowledged = (): void => void acknowledged++;
    const beater = new Beater({
      ...options,
      poster,
      timers,
      isHolding: () => isHolding,
      polls: () => polls,
      lagMs: () => 0,
      onAcknowledged,
    });
    beater.start();
    return {
      get acknowledged() {
        return acknowledged;
      },
      polled() {
        polls++;
      },
      hold(is) {
        isHolding = is;
      },
      stop() {
        beater.stop();
        poster.close();
      },
    };
  };
}
