import { type RawBuilder, sql } from "kysely";
import { type FactKind, factKind } from "./fact-kind.ts";

/** A kind's number as a literal: partial indexes are not found by parameters. */
export const kindLiteral = (kind: FactKind): RawBuilder<number> =>
  sql.raw<number>(String(factKind[kind]));

/** Kinds as a list for `in`. */
export function kindList(...kinds: readonly FactKind[]): RawBuilder<unknown> {
  return sql.raw(`(${kinds.map((kind) => factKind[kind]).join(", ")})`);
}
