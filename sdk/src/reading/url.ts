import { MarketError } from "../market-error.ts";

export type Params = Readonly<Record<string, unknown>>;

/** Puts parameters into `{name}` of a path; the others are returned. */
export function fillPath(path: string, params: Params): { filled: string; others: Params } {
  const used = new Set<string>();
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    used.add(name);
    const value = params[name];
    if (value === undefined || value === null || value === "") throw needed(path, name);
    return encodeURIComponent(String(value));
  });
  const others = Object.entries(params).filter(([name]) => !used.has(name));
  return { filled, others: Object.fromEntries(others) };
}

function needed(path: string, field: string): MarketError {
  const message = `${path} needs ${field}`;
  return new MarketError({ code: "invalid_parameters", message, details: [{ field, message }] });
}

/** A query string with its `?`; what is undefined or null is left out, objects are `name[key]=value`. */
export function queryOf(params: Params): string {
  const pairs = Object.entries(params).flatMap(([name, value]) => pairsOf(name, value));
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}

function pairsOf(name: string, value: unknown): [string, string][] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return [[name, value.join(",")]];
  if (typeof value !== "object") return [[name, String(value)]];
  return Object.entries(value).map(([key, one]) => [`${name}[${key}]`, String(one)]);
}
