import { type RawBuilder, sql } from "kysely";
import type { EffectiveFacts } from "../engine/projection.ts";
import { kindLiteral } from "../log/fact-kinds.ts";

/** The time of the latest clock tick at a position, unix seconds; 0 before the first one. */
export function clockAt({
  facts,
  upTo,
}: Pick<EffectiveFacts, "facts" | "upTo">): RawBuilder<bigint> {
  return sql`coalesce((
    select f.amount from ${facts} f where f.kind = ${kindLiteral("clock_ticked")} and f.position <= ${upTo}
    order by f.amount desc limit 1
  ), 0)::bigint`;
}
