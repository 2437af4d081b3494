import { type FactKind, factKind } from "../log/fact-kind.ts";
import { kindList } from "../log/fact-kind-sql.ts";
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

const numbers: ReadonlySet<number> = new Set(saleFactKinds.map((kind) => factKind[kind]));

export function isSaleFact(kind: number): boolean {
  return numbers.has(kind);
}
