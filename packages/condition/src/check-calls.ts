import type { ASTNode } from "@marcbachmann/cel-js";

/** What is wrong, and where (counted from 0). */
export interface Refusal {
  readonly at: number;
  readonly why: string;
}

const iterations = new Set(["all", "exists", "exists_one", "map", "filter"]);

/**
 * The functions a condition may call. Those that are left out have a cost that the size of the data does not bound
 * (`matches` runs a backtracking regular expression, `split` makes data grow) or leave JSON (bytes).
 */
const texts = ["startsWith", "endsWith", "contains", "lowerAscii", "upperAscii", "trim", "indexOf", "substring"];
const conversions = ["int", "double", "string", "bool", "dyn", "type", "timestamp", "duration"];
const times = ["getFullYear", "getMonth", "getDate", "getDayOfWeek", "getHours", "getMinutes", "getSeconds"];
const allowed = new Set(["has", "size", ...iterations, ...texts, ...conversions, ...times]);

/** For messages. */
export const allowedFunctions = `the functions has, size, ${[...iterations, ...texts].join(", ")}, ${conversions.join(", ")}`;

const deepestIteration = 2;

/** Refuses calls that are not allowed; tells how deep iterations nest (`in` inside an iteration is one itself). */
export function checkCalls(root: ASTNode): Refusal | { readonly nesting: number } {
  let nesting = 0;
  const pending: { readonly node: ASTNode; readonly depth: number }[] = [{ node: root, depth: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, depth } = next;
    let inner = depth;
    if (node.op === "call" || node.op === "rcall") {
      const [name] = node.args;
      if (!allowed.has(name)) return { at: node.pos, why: `the function ${name.slice(0, 60)} is not allowed` };
      if (iterations.has(name)) inner = depth + 1;
    }
    if (node.op === "in" && depth > 0) inner = depth + 1;
    nesting = Math.max(nesting, inner);
    if (nesting > deepestIteration) {
      return { at: node.pos, why: `iterations nest more than ${deepestIteration} deep` };
    }
    for (const child of childrenOf(node.args)) pending.push({ node: child, depth: inner });
  }
  return { nesting };
}

function childrenOf(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(childrenOf);
  return isNode(args) ? [args] : [];
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === "object" && value !== null && "op" in value && "args" in value;
}
