import { type RawBuilder, sql } from "kysely";
import { type FactKind, factKind, kindList } from "../log/fact-kinds.ts";
import { archipelago } from "./archipelago/archipelago.ts";
import { blend, blur } from "./blur/blur.ts";
import { cryptopunks } from "./cryptopunks/cryptopunks.ts";
import { element } from "./element/element.ts";
import { foundation } from "./foundation/foundation.ts";
import { looksrare } from "./looksrare/looksrare.ts";
import type { Exchange } from "./model/exchange.ts";
import { nftx } from "./nftx/nftx.ts";
import { paymentProcessorExchange } from "./payment-processor/payment-processor.ts";
import { rarible } from "./rarible/rarible.ts";
import { seaportExchange } from "./seaport/seaport.ts";
import { alienswap, mintify, okx } from "./seaport-forks/seaport-forks.ts";
import { sudoswap } from "./sudoswap/sudoswap.ts";
import { wyvern } from "./wyvern/wyvern.ts";
import { x2y2 } from "./x2y2/x2y2.ts";
import { zeroex } from "./zeroex/zeroex.ts";
import { zora } from "./zora/zora.ts";

/** Every exchange. Append only: the sales of a transaction are numbered by it. */
export const exchanges: readonly Exchange[] = [
  seaportExchange,
  blur,
  blend,
  paymentProcessorExchange,
  x2y2,
  looksrare,
  wyvern,
  foundation,
  archipelago,
  zora,
  element,
  zeroex,
  rarible,
  cryptopunks,
  mintify,
  alienswap,
  okx,
  sudoswap,
  nftx,
];

/** The events that are stored with their transaction's transfers, by source and name. */
export function eventsWithTransfers(): { source: string; name: string; each: boolean }[] {
  return exchanges.flatMap(({ sources }) =>
    sources.flatMap(({ name: source, eventsWithTransfers: names = [], isEachWithTransfers }) =>
      names.map((name) => ({ source, name, each: isEachWithTransfers ?? false })),
    ),
  );
}

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

/**
 * SQL: transactions with facts of a condition among a window's changes, one row for each block: `block_id`,
 * `transaction_indexes`. Joined one by one, whatever the planner expects of a window, they could have the facts of all
 * blocks read once for each.
 */
export const changedTransactions = (
  changes: RawBuilder<unknown>,
  condition: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`
  select block_id, array_agg(distinct transaction_index) as transaction_indexes
  from ${changes} where ${condition} group by block_id`;
