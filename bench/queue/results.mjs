// Figures of all systems as results in the form of PROOF.md. A ratio above 1 means that we win over the best peer.

/** Figures by system → ours and the peers'. */
export function compare(figures, pick = (figure) => figure) {
  const peers = {};
  const postgres = [];
  let ours;
  for (const [system, figure] of figures) {
    const value = pick(figure);
    if (system.isOurs) ours = value;
    else {
      peers[system.name] = value;
      if (system.on === "postgres") postgres.push(value);
    }
  }
  return { ours, peers, postgres };
}

/** More is better. `atLeastTimes` names the peer, or "best postgres", and how many times its rate is asked for. */
export function rateResult(name, metric, { ours, peers, postgres = [] }, { floor = null, atLeast, atLeastTimes } = {}) {
  const best = Math.max(...Object.values(peers));
  const target = atLeast ?? timesOf(atLeastTimes, peers, postgres);
  const ratio = Object.keys(peers).length > 0 ? ours / best : floor === null ? null : ours / floor;
  return {
    case: name,
    metric,
    unit: "/s",
    ours,
    peers,
    floor,
    ratio,
    target,
    met: target === null ? null : ours >= target,
  };
}

/** Less is better. `limit` is a number of milliseconds, or the name of the peer that is to take no less in the same run. */
export function timeResult(name, metric, { ours, peers }, limit = null, floor = null) {
  const atMost = typeof limit === "string" ? (peers[limit] ?? null) : limit;
  const best = Math.min(...Object.values(peers));
  const ratio = Object.keys(peers).length > 0 ? best / ours : null;
  const met = atMost === null ? null : ours <= atMost;
  return { case: name, metric, unit: "ms", ours, peers, floor, ratio, target: atMost, met };
}

function timesOf(wish, peers, postgres) {
  if (wish === undefined) return null;
  const base = wish.of === "best postgres" ? Math.max(...postgres) : peers[wish.of];
  return base === undefined || !Number.isFinite(base) ? null : Math.round(base * wish.times);
}
