import { sql } from "kysely";
import { type Address, type Hex, keccak256, stringToBytes } from "viem";
import type { ChainId } from "#chains/index.ts";
import { type IntakeCode, rejectField } from "#projections/domain/intake-codes.ts";
import type {
  OrderBudget,
  Spending,
  TradeHistory,
} from "#projections/domain/orders/order-quotas.ts";
import type { ParsedOrder } from "#projections/domain/orders/order-terms.ts";
import type { Rejection } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import { bytea, byteaArray } from "#projections/log/sql-values.ts";
import {
  type ContractHistory,
  readContractHistories,
  readHigherBidders,
  readMakerHistories,
  readOpenOrderCounts,
} from "#projections/orders/read-maker-histories.ts";
import { findTokenSets } from "#projections/orders/token-sets.ts";

export type BlockedMaker = { address: Address; reason: string | null; blockedAt: Date };

/** Those of the makers that an operator blocked. */
export async function readBlocked(
  db: Database,
  makers: readonly Address[],
): Promise<ReadonlySet<Address>> {
  const { rows } = await sql<{ address: Address }>`
    select address from ops.blocked_maker where address = any (${byteaArray([...new Set(makers)])})`.execute(
    db,
  );
  return new Set(rows.map(({ address }) => address));
}

/** All of them, the latest first. */
export async function readAllBlocked(db: Database): Promise<BlockedMaker[]> {
  const { rows } = await sql<BlockedMaker>`
    select address, reason, blocked_at as "blockedAt" from ops.blocked_maker order by blocked_at desc, address`.execute(
    db,
  );
  return rows;
}

/** Blocks a maker from submitting orders, or replaces the reason. */
export async function blockMaker(
  db: Database,
  maker: Address,
  reason: string | null,
): Promise<void> {
  await sql`
    insert into ops.blocked_maker (address, reason) values (${bytea(maker)}, ${reason})
    on conflict (address) do update set reason = excluded.reason`.execute(db);
}

/** Returns whether the maker was blocked. */
export async function unblockMaker(db: Database, maker: Address): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from ops.blocked_maker where address = ${bytea(maker)}`.execute(db);
  return numAffectedRows === 1n;
}

export function rejectBlocked(maker: Address): Rejection<IntakeCode> {
  return rejectField("maker_blocked", {
    field: "parameters.offerer",
    expected: "a maker that is not blocked",
    actual: maker,
    message: `the operator of this market does not accept orders of ${maker}`,
  });
}

/** What the quotas of orders depend on. */
export type StoredQuotas = {
  makers: ReadonlyMap<Address, TradeHistory>;
  contracts: ReadonlyMap<Address, ContractHistory>;
  openOfMakers: ReadonlyMap<Address, number>;
  /** By the hash of a bid: makers with an active bid on its contract at its price or above. None: too few to matter. */
  higherBidders: ReadonlyMap<Hex, number>;
  /** By `budgetKey`. */
  spending: ReadonlyMap<string, Spending>;
  /** The sets of tokens that bids were for before, by `nameOfTokenSet`. */
  tokenSets: ReadonlySet<string>;
  blocked: ReadonlySet<Address>;
};

/** An order, and the network address that it came from. */
type SubmittedOrder = { order: ParsedOrder; network: string | null };

/** By one query of each kind for all orders of a batch. `contractQuota`: see `OrderQuotas`. */
export async function readStoredQuotas(
  db: Database,
  chainId: ChainId,
  { submitted, contractQuota }: { submitted: readonly SubmittedOrder[]; contractQuota: number },
  now: Date,
): Promise<StoredQuotas> {
  const orders = submitted.map(({ order }) => order);
  const makers = orders.map(({ maker }) => maker);
  const contracts = orders.map(({ contract }) => contract);
  const bids = orders.filter(({ side }) => side === "bid");
  const keys = [...makers, ...contracts, ...submitted.flatMap(shareKeys)];
  const sets = orders.flatMap(({ contract, criteria }) =>
    criteria === undefined ? [] : [{ contract, root: criteria.root }],
  );
  const [histories, ofContracts, openOfMakers, ranks, spending, tokenSets, blocked] =
    await Promise.all([
      readMakerHistories(db, chainId, makers),
      readContractHistories(db, chainId, contracts),
      readOpenOrderCounts(db, chainId, makers, now),
      readHigherBidders(db, chainId, bids, contractQuota),
      readSpending(db, chainId, keys),
      findTokenSets(db, chainId, sets),
      readBlocked(db, makers),
    ]);
  const higherBidders = new Map(ranks.map((one) => [one.orderHash, one.higherBidders]));
  const stored = { openOfMakers, higherBidders, spending, tokenSets, blocked };
  return { ...stored, makers: histories, contracts: ofContracts };
}

type Key = Pick<OrderBudget, "subject" | "key">;

export const budgetKey = ({ subject, key }: Key): string => `${subject} ${key ?? ""}`;

/** The longest key of a budget that many share: a class of size. */
const maxSharedKeyBytes = 1;

/** What is charged to the budgets with these keys, and to those that many share, by `budgetKey`. */
async function readSpending(
  db: Database,
  chainId: ChainId,
  keys: readonly Hex[],
): Promise<Map<string, Spending>> {
  const { rows } = await sql<Spending & { subject: OrderBudget["subject"]; key: string }>`
    select subject, encode(address, 'hex') as key, spent, spent_at as "spentAt"
    from ops.order_budget
    where chain_id = ${chainId}
      and (address = any (${byteaArray([...new Set(keys)])}) or subject in ('untraded', 'newcomers', 'newcomer offers', 'newcomer token sets')
           and length(address) <= ${maxSharedKeyBytes})`.execute(db);
  return new Map(
    rows.map(({ subject, key, ...spending }) => [
      budgetKey({ subject, key: key === "" ? null : `0x${key}` }),
      spending,
    ]),
  );
}

/** `amount`: orders, or rows of token sets. */
export type Charge = { budget: OrderBudget; amount: number };

/** Charges accepted orders. Processes that charge at once add up. */
export async function chargeBudgets(
  db: Database,
  chainId: ChainId,
  charges: readonly Charge[],
  now: Date,
): Promise<void> {
  // Always in the same order, so that processes do not deadlock.
  const sorted = charges.toSorted((a, b) => (budgetKey(a.budget) < budgetKey(b.budget) ? -1 : 1));
  await sql`
    insert into ops.order_budget as b (chain_id, subject, address, spent, spent_at, per_second)
    select ${chainId}, c.subject, decode(c.address, 'hex'), c.amount, ${now}, c.per_second
    from unnest(${sorted.map(({ budget }) => budget.subject)}::text[],
                ${sorted.map(({ budget }) => budget.key?.slice(2) ?? "")}::text[],
                ${sorted.map(({ amount }) => amount)}::float8[],
                ${sorted.map(({ budget }) => budget.perSecond)}::float8[]) c (subject, address, amount, per_second)
    on conflict (chain_id, subject, address) do update
      set spent = excluded.spent + greatest(0, b.spent
            - excluded.per_second * greatest(0, extract(epoch from excluded.spent_at - b.spent_at))),
          spent_at = greatest(b.spent_at, excluded.spent_at), per_second = excluded.per_second`.execute(
    db,
  );
}

/** Deletes budgets from which everything was given back long ago, at most `limit`. */
export async function deleteIdleBudgets(db: Database, now: Date, limit = 1_000): Promise<void> {
  const isIdle = sql`
    spent_at < ${now}::timestamptz - interval '1 day'
    and spent <= per_second * extract(epoch from ${now}::timestamptz - spent_at)`;
  await sql`
    delete from ops.order_budget where (chain_id, subject, address) in (
      select chain_id, subject, address from ops.order_budget where ${isIdle} order by spent_at limit ${limit}
    ) and ${isIdle}`.execute(db);
}

/** Bytes of a key: enough that no other has it, and no address of ours is as long. */
const keyBytes = 16;

/** Names a network address, and what else tells its budgets apart, without saying it. */
export const networkKey = (network: string, contract: Hex | null = null): Hex =>
  `0x${keccak256(stringToBytes(`${network} ${contract ?? ""}`)).slice(2, 2 + 2 * keyBytes)}`;

/** The keys of the budgets that an order's network address has for itself. */
function shareKeys({
  order: { contract },
  network,
}: {
  order: ParsedOrder;
  network: string | null;
}): Hex[] {
  return network === null ? [] : [networkKey(network), networkKey(network, contract)];
}
