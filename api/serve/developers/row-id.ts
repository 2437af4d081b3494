import type { Visit } from "./page-handler.ts";

/** The row id in the path; 0, which no row has, if it is not a number. */
export function rowIdOf(visit: Visit): number {
  const id = visit.parameter("id");
  return /^\d{1,9}$/.test(id) ? Number(id) : 0;
}
