import { type RawBuilder, sql } from "kysely";
import type { Address, Hex } from "viem";
import type { FactWindow } from "#projections/engine/projection.ts";
import { type FactKind, kindLiteral } from "#projections/log/fact-kinds.ts";
import type { BulkRules } from "./exchange.ts";
import { BPS, calldataTags, feeRecipients } from "./fees.ts";

/** What the statements of exchanges that select simple sales have in common. */

/** The text of bytes, as payloads have it. */
export const hexOf = (column: string) => sql`('0x' || encode(${sql.ref(column)}, 'hex'))`;
export const bytesOf = (text: RawBuilder<unknown>) => sql`decode(substr(${text}, 3), 'hex')`;

export const nameIn = (names: ReadonlyMap<string, string>, key: RawBuilder<unknown>) =>
  sql`${sql.lit(JSON.stringify(Object.fromEntries(names)))}::jsonb ->> (${key})`;

/**
 * Positions of the facts of a kind that are the only ones of their transaction that sales are made of. The planner cannot
 * estimate how many there are: what is joined to them is looked up one by one.
 */
export const soleFacts = (window: FactWindow, { saleKinds }: BulkRules, kind: FactKind) => sql`
  select position from (
    select position, kind, count(*) over (partition by block_id, transaction_index) as facts_of_transaction
    from ${window.changes} where kind in ${saleKinds}
  ) counted
  where facts_of_transaction = 1 and kind = ${kindLiteral(kind)}`;

/** By the tag that ends the calldata. */
export const marketplaceOfCalldata = (tail: RawBuilder<unknown>) =>
  nameIn(calldataTags as ReadonlyMap<Hex, string>, tail);

/**
 * The fees of a sale of `total`, in the order of `payments`, a select of `recipient` and `wei`, and the marketplace of
 * the first known recipient. Built as text: building a JSON object costs three times as much.
 */
export function feesOf(
  payments: RawBuilder<unknown>,
  total: RawBuilder<unknown>,
  feeRecipient: Address,
): RawBuilder<unknown> {
  const earners = new Map(feeRecipients).set(feeRecipient, "native");
  return sql`
    select (array_agg(earner) filter (where earner is not null))[1] as marketplace, coalesce(sum(wei), 0) as wei,
           ('[' || coalesce(string_agg(
             '{"recipient": "' || recipient || '", "wei": "' || wei || '", "bps": ' || bps
             || ', "kind": "' || kind || '"}', ','), '') || ']')::jsonb as fees
    from (
      select *, case when earner is not null then 'service' else 'other' end as kind
      from (
        select recipient, wei, ${nameIn(earners, sql`recipient`)} as earner,
               case when ${total} = 0 then 0
                    else div(wei * ${sql.lit(BPS)} + div(${total}, 2), ${total}) end as bps
        from (${payments}) payment
        offset 0
      ) payment
    ) fee`;
}

/** Block, transaction and exchange of the row `filled`. */
export const blockAndTransaction = sql`
  select block.chain_id, block.number, block.hash as block_hash, block.timestamp, transaction.hash,
         contract.address as exchange
  from log.block, log.transaction, log.contract
  where block.block_id = filled.block_id and transaction.block_id = filled.block_id
    and transaction.transaction_index = filled.transaction_index and contract.contract_id = filled.contract_id
  offset 0`;

/** Of an NFT's contract, given as text, on the chain of the row `placed`; null: it has none yet. */
export const contractIdOf = (token: RawBuilder<unknown>) => sql`(
  select contract.contract_id from log.contract
  where contract.chain_id = placed.chain_id and contract.address = coalesce((
    select stands_for from log.contract_alias alias
    where alias.chain_id = placed.chain_id and alias.address = ${bytesOf(token)}
  ), ${bytesOf(token)})
)`;
