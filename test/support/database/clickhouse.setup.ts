import { installClickhouse } from "./clickhouse.ts";

/** Files side by side find the engine whole. */
export function setup(): void {
  installClickhouse();
}
