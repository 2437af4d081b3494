import { type RawBuilder, sql } from "kysely";
import type { Session } from "../database.ts";
import type { SoldToken } from "./store.ts";

/** The time in which a token is bought three times by one wallet. */
const REPEATED_WITHIN = sql.raw("interval '1 day'");

/** Derives the wash trades of tokens again: each sale of a token is compared with all its others. */
export async function updateWashTrades(
  session: Session,
  schema: string,
  tokens: readonly SoldToken[],
): Promise<void> {
  if (tokens.length === 0) return;
  const changed = sql`
    select distinct contract_id, token_id from unnest(
      ${tokens.map((one) => one.contract_id)}::int[], ${tokens.map((one) => one.token_id)}::numeric[]
    ) as t (contract_id, token_id)`;
  await sql`
    delete from ${sql.id(schema, "wash_trade")} w using (${changed}) t
    where w.contract_id = t.contract_id and w.token_id = t.token_id`.execute(session);
  await insertWashTrades(session, schema, changed);
}

/** The same of all sales, into the empty table. */
export async function fillWashTrades(session: Session, schema: string): Promise<void> {
  await insertWashTrades(
    session,
    schema,
    sql`
      select contract_id, token_id from ${sql.id(schema, "sale")}
      group by 1, 2 having count(*) > 1 or bool_or(seller = buyer)`,
  );
}

/**
 * The first rule that a sale meets. Units of an ERC-1155 id are alike, and two wallets may well trade them both ways:
 * only the first rule is applied to them.
 */
async function insertWashTrades(
  session: Session,
  schema: string,
  tokens: RawBuilder<unknown>,
): Promise<void> {
  await sql`
    with token as materialized (${tokens}),
    sold as materialized (
      select s.block_id, s.transaction_index, s.ordinal, s.contract_id, s.token_id, s.seller, s.buyer, s.is_erc1155,
             ${isRepeated} as is_repeated
      from token join ${sql.id(schema, "sale")} s using (contract_id, token_id)
      window bought as (
        partition by s.contract_id, s.token_id, s.buyer order by s.block_id, s.transaction_index, s.ordinal
      )
    )
    insert into ${sql.id(schema, "wash_trade")} (block_id, transaction_index, ordinal, contract_id, token_id, rule)
    select block_id, transaction_index, ordinal, contract_id, token_id, rule
    from (
      select s.*, case
          when s.seller = s.buyer then 'same_owner'
          when s.is_erc1155 then null
          when (s.contract_id, s.token_id, s.buyer, s.seller) in (
            select contract_id, token_id, seller, buyer from sold
          ) then 'back_and_forth'
          when s.is_repeated then 'repeated_purchase'
        end as rule
      from sold s
    ) ruled where rule is not null`.execute(session);
}

/** SQL: the sale is one of three purchases of the token by one wallet within a day. */
const isRepeated = sql`coalesce(
  lead(s.timestamp, 2) over bought - s.timestamp <= ${REPEATED_WITHIN}
  or lead(s.timestamp) over bought - lag(s.timestamp) over bought <= ${REPEATED_WITHIN}
  or s.timestamp - lag(s.timestamp, 2) over bought <= ${REPEATED_WITHIN}, false)`;
