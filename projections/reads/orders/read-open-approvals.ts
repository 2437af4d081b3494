import { sql } from "kysely";
import type { Address } from "viem";
import type { Database } from "#projections/log/database.ts";
import { kindList, kindLiteral } from "#projections/log/fact-kinds.ts";
import { conduit, exchange } from "#projections/order-state/exchange-contracts.ts";
import { bytea } from "#projections/log/sql-values.ts";

/** What an account lets the exchange move, as last approved or read from the chain. */
export type OpenApproval = {
  contractId: number;
  contract: Address;
  /** `tokens`: all of a collection's, by the conduit. `money`: an amount of a currency, by the exchange. */
  of: "tokens" | "money";
  /** Wei of money; null: of tokens. */
  amountWei: bigint | null;
};

const lastState = sql`
  select s.kind from log.fact s
  where s.block_id = f.block_id and s.kind in ${kindList("block_retracted", "block_readopted")}
  order by s.position desc limit 1`;

const ofTokens = kindList("approval_for_all", "approval_read");
const ofMoney = kindList("erc20_approval", "allowance_read");
/** Both, for the index. */
const approvals = kindList("approval_for_all", "approval_read", "erc20_approval", "allowance_read");

/** Approvals of an account on a chain that are not revoked, by contract, after one. */
export async function readOpenApprovals(
  db: Database,
  { chainId, owner, after }: { chainId: number; owner: Address; after: number },
  limit: number,
): Promise<OpenApproval[]> {
  // By contract in the order of the index: a stranger's contract may claim approvals by anybody.
  const { rows } = await sql<OpenApproval>`
    select latest.contract_id as "contractId", k.address as contract,
           case when latest.kind in ${ofTokens} then 'tokens' else 'money' end as of,
           case when latest.kind in ${ofMoney} then latest.amount end as "amountWei"
    from (
      select distinct on (f.contract_id) f.contract_id, f.kind, f.amount
      from log.fact f
      where f.from_address = ${bytea(owner)} and f.contract_id > ${after}
        and (f.kind in ${ofTokens} and f.to_address = ${conduit} or f.kind in ${ofMoney} and f.to_address = ${exchange})
        and f.kind in ${approvals}
        and (${lastState}) is distinct from ${kindLiteral("block_retracted")}
      order by f.contract_id, f.block_id >> 12 desc, (f.log_index is null) desc, f.block_id desc, f.log_index desc,
               f.position desc
    ) latest
    join log.contract k using (contract_id)
    where k.chain_id = ${chainId} and latest.amount > 0
    order by latest.contract_id limit ${limit}`.execute(db);
  return rows;
}
