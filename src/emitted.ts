import { type Placed, position } from "./position.ts";

/** The row of an event: its position, its source and name in `ponder.config.ts`, its arguments. */
export function emitted(
  event: Placed & { args: unknown },
  chainId: number,
  source: string,
  name: string,
) {
  return { ...position(event, chainId), source, name, args: json(event.args) };
}

/** Integers as decimal strings, bytes and addresses as lower-case hex; small integers and booleans as they are. */
function json(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "string") return value.toLowerCase();
  if (Array.isArray(value)) return value.map(json);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, json(item)]));
}
