import { type RawBuilder, sql } from "kysely";

/**
 * A parameter that the planner knows nothing of, as it knows nothing of any in a plan for all values: the two cost alike,
 * and a prepared statement is soon planned once instead of each time. `type` is SQL.
 */
export function anyValue<Type>(value: unknown, type: string): RawBuilder<Type> {
  return sql<Type>`(select ${value}::${sql.raw(type)})`;
}
