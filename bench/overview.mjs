// Draws the results that have peers: one group of bars per result, in which the longest bar is the largest value.
const width = 860;
const left = 190;
const right = 110;
const barHeight = 14;
const gap = 4;
const ours = "#2f6fde";
const theirs = "#9aa5b1";

const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const number = (value) => Number(value.toPrecision(3)).toLocaleString("en");

/** Results that at least one peer has too. */
function comparable(reports) {
  return reports.flatMap(({ results }) => results).filter(({ peers }) => Object.keys(peers).length > 0);
}

function group({ case: name, metric, unit, ours: own, peers }, top) {
  const bars = [["carillon", own], ...Object.entries(peers)];
  const maxValue = Math.max(...bars.map(([, value]) => value));
  const better = unit.endsWith("/s") ? "more is better" : "less is better";
  const parts = [
    `<text x="12" y="${top + 14}" class="head">${escape(`${name}: ${metric}`)} <tspan class="note">${unit}, ${better}</tspan></text>`,
  ];
  let y = top + 24;
  for (const [system, value] of bars) {
    const length = Math.max(1, Math.round(((width - left - right) * value) / maxValue));
    parts.push(
      `<text x="${left - 8}" y="${y + 11}" class="name">${escape(system)}</text>`,
      `<rect x="${left}" y="${y}" width="${length}" height="${barHeight}" rx="2" fill="${system === "carillon" ? ours : theirs}"/>`,
      `<text x="${left + length + 6}" y="${y + 11}" class="value">${number(value)}</text>`,
    );
    y += barHeight + gap;
  }
  return { text: parts.join("\n"), bottom: y + 12 };
}

export function drawOverview(reports) {
  const groups = [];
  let top = 44;
  for (const result of comparable(reports)) {
    const { text, bottom } = group(result, top);
    groups.push(text);
    top = bottom;
  }
  const machine = reports[0]?.machine;
  const where =
    machine === undefined
      ? ""
      : `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}; each figure from one run of all systems`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top}" viewBox="0 0 ${width} ${top}" role="img" aria-label="Carillon beside its peers">
<style>
  text { font: 12px system-ui, sans-serif; fill: #1f2933; }
  .head { font-weight: 600; } .note, .where { font-weight: 400; fill: #616e7c; } .name { text-anchor: end; }
</style>
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="12" y="24" class="where">${escape(where)}</text>
${groups.join("\n")}
</svg>
`;
}
