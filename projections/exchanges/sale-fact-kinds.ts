import { type RawBuilder, sql } from "kysely";
import { type FactKind, factKind, kindList } from "../log/fact-kinds.ts";
import { exchanges } from "./exchanges.ts";

/** Kinds of facts that sales are made of, of all exchanges. */
export const saleFactKinds: readonly FactKind[] = [
  ...new Set<FactKind>([
    ...exchanges.flatMap(({ factKinds = [] }) => factKinds),
    // Included without an exchange that uses it: what projections handle does not change with the first one.
    "exchange_event",
  ]),
];

/** The same for `in`. */
export const saleKinds = kindList(...saleFactKinds);

/** SQL: the transactions with sale facts among a window's changes. */
export const changedSaleTransactions = (changes: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select distinct block_id, transaction_index from ${changes} where kind in ${saleKinds}`;

const numbers: ReadonlySet<number> = new Set(saleFactKinds.map((kind) => factKind[kind]));

export function isSaleFact(kind: number): boolean {
  return numbers.has(kind);
}
