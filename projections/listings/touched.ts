import { type RawBuilder, sql } from "kysely";
import { type FactKind, factKind } from "../log/fact-kind.ts";
import { clockAt } from "../order-state/clock.ts";
import { kindsIn } from "../order-state/evidence.ts";
import { conduit, exchange } from "../order-state/venue.ts";

/** Facts of these kinds name listings, by `keys` and what joins a listing `l` to such a key `c`. */
type Touch = {
  kinds: readonly FactKind[];
  keys: RawBuilder<unknown>;
  condition: RawBuilder<unknown>;
};

/** Only a listing that can be filled again depends on its token, its maker's approvals and the time. */
const isOpen = sql`l.status in ('active', 'inactive')`;

/**
 * The listings that the facts of `change` may change: order hash, chain, contract, token, maker. Only for the kinds at
 * hand: a statement for all takes several times as long to plan.
 */
export function touchedBy(
  kinds: ReadonlySet<number>,
  listing: RawBuilder<unknown>,
  upTo: bigint,
): RawBuilder<unknown>[] {
  return touches(upTo)
    .filter((touch) => touch.kinds.some((kind) => kinds.has(factKind[kind])))
    .map(
      // Each key finds its listings by an index, also in a table that the planner knows nothing of.
      ({ keys, condition }) => sql`
        select l.* from (${keys}) c cross join lateral (
          select l.order_hash, l.chain_id, l.contract_id, l.token_id, l.maker from ${listing} l
          where ${condition} offset 0
        ) l`,
    );
}

function touches(upTo: bigint): Touch[] {
  return [
    ordersNamed,
    makersCounted,
    tokensMoved,
    rangesMoved,
    holdingsMoved,
    makersApproving,
    chainsOfChannel,
    ...moments(upTo),
  ];
}

/** Facts of `change` of some kinds. */
function among(kinds: readonly FactKind[]): RawBuilder<unknown> {
  return sql`from change where kind in ${kindsIn(...kinds)}`;
}

const orderKinds = [
  "order_fulfilled",
  "order_cancelled",
  "order_status_read",
  "signature_read",
] as const;
const ordersNamed: Touch = {
  kinds: orderKinds,
  keys: sql`select distinct order_hash ${among(orderKinds)}`,
  condition: sql`l.order_hash = c.order_hash`,
};

const counterKinds = ["counter_incremented", "counter_read"] as const;
const makersCounted: Touch = {
  kinds: counterKinds,
  keys: sql`select distinct from_address as maker ${among(counterKinds)}`,
  condition: sql`l.maker = c.maker and l.status <> 'filled'`,
};

/** Of an ERC-721 token every listing: its owner before is not always whom a transfer names. */
const ownerKinds = ["erc721_transfer", "owner_read"] as const;
const tokensMoved: Touch = {
  kinds: ownerKinds,
  keys: sql`select distinct contract_id, token_id ${among(ownerKinds)}`,
  condition: sql`
    l.contract_id = c.contract_id and l.token_id = c.token_id and l.standard = 721 and ${isOpen}`,
};

const rangeKinds = ["erc721_consecutive_transfer"] as const;
const rangesMoved: Touch = {
  kinds: rangeKinds,
  keys: sql`select distinct contract_id, token_id as first, amount as tokens ${among(rangeKinds)}`,
  condition: sql`
    l.contract_id = c.contract_id and l.token_id >= c.first and l.token_id < c.first + c.tokens
    and l.standard = 721 and ${isOpen}`,
};

const holdingKinds = ["erc1155_transfer", "units_read", "transfer_read"] as const;
const holdingsMoved: Touch = {
  kinds: holdingKinds,
  keys: sql`
    select contract_id, token_id, from_address as maker ${among(holdingKinds)}
    union
    select contract_id, token_id, to_address ${among(["erc1155_transfer"])}`,
  condition: sql`
    l.contract_id = c.contract_id and l.token_id = c.token_id and l.maker = c.maker and ${isOpen}`,
};

const approvalKinds = ["approval_for_all", "approval_read"] as const;
const makersApproving: Touch = {
  kinds: approvalKinds,
  keys: sql`
    select distinct contract_id, from_address as maker ${among(approvalKinds)} and to_address = ${conduit}`,
  condition: sql`l.contract_id = c.contract_id and l.maker = c.maker and ${isOpen}`,
};

const channelKinds = ["channel_updated", "channel_read"] as const;
const chainsOfChannel: Touch = {
  kinds: channelKinds,
  keys: sql`
    select distinct k.chain_id from change join log.contract k using (contract_id)
    where kind in ${kindsIn(...channelKinds)} and to_address = ${exchange} and k.address = ${conduit}`,
  condition: sql`l.chain_id = c.chain_id and ${isOpen}`,
};

/** Listings that were open before and begin or end at a moment that has come. */
function moments(upTo: bigint): Touch[] {
  const keys = sql`select ${clockAt(upTo)} as clock`;
  const kinds = ["clock_ticked"] as const;
  return [
    { kinds, keys, condition: sql`l.end_time <= c.clock and ${isOpen}` },
    { kinds, keys, condition: sql`l.start_time <= c.clock and l.reason = 'not_started'` },
  ];
}
