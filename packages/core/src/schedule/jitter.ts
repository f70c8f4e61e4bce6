import type { DurationMs, Instant } from "../time/instant.js";

/** Two multipliers of a well-mixing 32-bit finaliser; the pair of lanes below gives 53 usable bits. */
function mix(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function hashText(text: string, seed: number): number {
  let hash = seed;
  for (let index = 0; index < text.length; index += 1) hash = mix(hash ^ text.charCodeAt(index)) + index;
  return mix(hash ^ text.length);
}

/**
 * The delay that jitter adds to each nominal instant of a job: uniform over 0 … jitterMs - 1, and a hash, so that every
 * node and every failover computes the same. The job's part is hashed once, here.
 */
export function compileJitter(jobId: string, jitterMs: DurationMs): (nominal: Instant) => DurationMs {
  if (jitterMs <= 0) return () => 0;
  const low = hashText(jobId, 0x9e3779b9);
  const high = hashText(jobId, 0x7f4a7c15);
  return (nominal) => {
    const lower = nominal | 0;
    const upper = Math.floor(nominal / 0x1_0000_0000) | 0;
    const one = mix(mix(low ^ lower) + upper);
    const two = mix(mix(high ^ upper) + lower);
    return ((two >>> 11) * 0x1_0000_0000 + one) % jitterMs;
  };
}
