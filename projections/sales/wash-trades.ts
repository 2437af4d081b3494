import { type RawBuilder, sql } from "kysely";
import type { FactWindow } from "../engine/projection.ts";
import { changedSaleTransactions } from "../exchanges/exchanges.ts";
import type { Session } from "../log/database.ts";
import type { SoldToken } from "./store.ts";

/** The time in which a token is bought three times by one wallet. */
const REPEATED_WITHIN = sql.raw("interval '1 day'");

export type FlaggedToken = Omit<SoldToken, "is_erc1155">;

const changedTransactions = (window: FactWindow) => sql`(
  ${changedSaleTransactions(window.changes)}
) changed`;

/** Deletes the flags of the window's transactions. Returns their tokens. */
export async function deleteWashTrades(
  session: Session,
  schema: string,
  window: FactWindow,
): Promise<FlaggedToken[]> {
  const { rows } = await sql<FlaggedToken>`
    delete from ${sql.id(schema, "wash_trade")} w using ${changedTransactions(window)}
    where w.block_id = changed.block_id and w.transaction_index = changed.transaction_index
    returning w.contract_id, w.token_id`.execute(session);
  return rows;
}

/**
 * Derives the wash trades again of the tokens whose sales changed: those of added sales, and of flags that were deleted. A
 * sale without a flag gives none to others, so of deleted sales only those with a flag matter.
 */
export async function updateWashTrades(
  session: Session,
  schema: string,
  window: FactWindow,
  { added, flagged }: { added: readonly SoldToken[]; flagged: readonly FlaggedToken[] },
): Promise<void> {
  const tokens = [...flagged, ...added.filter(({ is_erc1155 }) => !is_erc1155)];
  if (tokens.length === 0 && added.length === 0) return;
  const flag = sql.id(schema, "wash_trade");
  const token = sql`
    select distinct contract_id, token_id from unnest(
      ${tokens.map((one) => one.contract_id)}::int[], ${tokens.map((one) => one.token_id)}::numeric[]
    ) as t (contract_id, token_id)`;
  const changedSales = sql`
    ${changedTransactions(window)} cross join lateral (
      select * from ${sql.id(schema, "sale")} s
      where s.block_id = changed.block_id and s.transaction_index = changed.transaction_index offset 0
    ) s`;
  await sql`
    with ${washTrades(sql.id(schema, "sale"), token, changedSales)},
    outdated as (
      delete from ${flag} w using sold s
      where w.block_id = s.block_id and w.transaction_index = s.transaction_index and w.ordinal = s.ordinal
        and (s.block_id, s.transaction_index, s.ordinal) not in (select block_id, transaction_index, ordinal from ruled)
    )
    insert into ${flag} as w (${washColumns}) select ${washColumns} from ruled
    on conflict (block_id, transaction_index, ordinal) do update set rule = excluded.rule
      where w.rule <> excluded.rule`.execute(session);
}

/** The same of all sales, into the empty table. */
export async function fillWashTrades(session: Session, schema: string): Promise<void> {
  const sale = sql.id(schema, "sale");
  await sql`
    with ${allWashTrades(sale)}
    insert into ${sql.id(schema, "wash_trade")} (${washColumns}) select ${washColumns} from ruled`.execute(
    session,
  );
}

/** SQL: CTE `ruled` of all sales of the relation `sale`. */
export function allWashTrades(sale: RawBuilder<unknown>): RawBuilder<unknown> {
  const token = sql`
    select contract_id, token_id from ${sale}
    where not is_erc1155 group by 1, 2 having count(*) > 1 or bool_or(seller = buyer)`;
  return washTrades(sale, token, sql`${sale} s`);
}

const washColumns = sql.raw("block_id, transaction_index, ordinal, contract_id, token_id, rule");

/**
 * CTE `ruled`: of the relation `sale`, sales that a rule meets, with the first such rule, of ERC-721 tokens `token` among all their sales.
 * Units of an ERC-1155 id are alike, and two wallets may well trade them both ways: of `units`, which selects from
 * sales `s`, each is looked at alone, by the first rule.
 */
function washTrades(
  sale: RawBuilder<unknown>,
  token: RawBuilder<unknown>,
  units: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const columns = sql`s.block_id, s.transaction_index, s.ordinal, s.contract_id, s.token_id`;
  return sql`
    token as materialized (${token}),
    sold as materialized (
      select ${columns}, s.seller, s.buyer, ${isRepeated} as is_repeated
      from token join ${sale} s using (contract_id, token_id)
      where not s.is_erc1155
      window bought as (
        partition by s.contract_id, s.token_id, s.buyer order by s.block_id, s.transaction_index, s.ordinal
      )
    ),
    ruled as materialized (
      select * from (
        select ${columns}, case
            when s.seller = s.buyer then 'same_owner'
            when (s.contract_id, s.token_id, s.buyer, s.seller) in (
              select contract_id, token_id, seller, buyer from sold
            ) then 'back_and_forth'
            when s.is_repeated then 'repeated_purchase'
          end as rule
        from sold s
      ) s where rule is not null
      union all
      select ${columns}, 'same_owner' from ${units} where s.is_erc1155 and s.seller = s.buyer
    )`;
}

/** SQL: the sale is one of three purchases of the token by one wallet within a day. */
const isRepeated = sql`coalesce(
  lead(s.timestamp, 2) over bought - s.timestamp <= ${REPEATED_WITHIN}
  or lead(s.timestamp) over bought - lag(s.timestamp) over bought <= ${REPEATED_WITHIN}
  or s.timestamp - lag(s.timestamp, 2) over bought <= ${REPEATED_WITHIN}, false)`;
