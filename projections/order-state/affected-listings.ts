import { type RawBuilder, sql } from "kysely";
import type { FactWindow, Relation, WindowWithKinds } from "../engine/projection.ts";
import { type FactKind, kindList } from "../log/fact-kinds.ts";
import { rangedAreas } from "../engine/token-ids.ts";
import { type AffectedBy, affectedOrders, byClock, byOrderHash } from "./affected-orders.ts";
import { conduit, exchange } from "./exchange-contracts.ts";
import { isOpen } from "./status-sql.ts";

/** Facts that hold the terms of a listing, or that a partner has withdrawn it, by its order hash. */
export const listingTermsKinds = [
  "order_submitted",
  "partner_listing_seen",
  "partner_listing_withdrawn",
] as const satisfies readonly FactKind[];

const keyColumns = ["order_hash", "chain_id", "contract_id", "token_id", "maker"];

/** Stored listings that a window's facts may change: order hash, chain, contract, token, maker. */
export function affectedListings(
  window: WindowWithKinds,
  listing: Relation,
): RawBuilder<unknown>[] {
  const rules = [
    byOrderHash(window),
    byCounter(window),
    byToken(window),
    byTokenRange(window),
    byHolding(window),
    byApproval(window),
    byChannel(window),
    ...byClock(window),
  ];
  return affectedOrders(window, rules, listing, keyColumns);
}

function changesOf({ changes }: FactWindow, kinds: readonly FactKind[]): RawBuilder<unknown> {
  return sql`from ${changes} where kind in ${kindList(...kinds)}`;
}

const counterKinds = ["counter_incremented", "counter_read"] as const;
const byCounter = (window: FactWindow): AffectedBy => ({
  kinds: counterKinds,
  keys: sql`select distinct from_address as maker ${changesOf(window, counterKinds)}`,
  condition: sql`o.maker = c.maker and o.status <> 'filled'`,
});

/** All listings of an ERC-721 token: a transfer need not name the owner before. */
const ownerKinds = ["erc721_transfer", "owner_read", "token_approval_read"] as const;
const byToken = (window: FactWindow): AffectedBy => ({
  kinds: ownerKinds,
  keys: sql`select distinct contract_id, token_id ${changesOf(window, ownerKinds)}`,
  condition: sql`
    o.contract_id = c.contract_id and o.token_id = c.token_id and o.standard = 721 and ${isOpen}`,
});

const rangeKinds = ["erc721_consecutive_transfer"] as const;
const byTokenRange = (window: FactWindow): AffectedBy => ({
  kinds: rangeKinds,
  keys: rangedAreas(window.changes),
  condition: sql`
    o.contract_id = c.contract_id and o.token_id >= c.first_id and o.token_id < c.end_id
    and o.standard = 721 and ${isOpen}`,
});

const holdingKinds = ["erc1155_transfer", "units_read", "transfer_read"] as const;
const byHolding = (window: FactWindow): AffectedBy => ({
  kinds: holdingKinds,
  keys: sql`
    select contract_id, token_id, from_address as maker ${changesOf(window, holdingKinds)}
    union
    select contract_id, token_id, to_address ${changesOf(window, ["erc1155_transfer"])}`,
  condition: sql`
    o.contract_id = c.contract_id and o.token_id = c.token_id and o.maker = c.maker and ${isOpen}`,
});

const approvalKinds = ["approval_for_all", "approval_read"] as const;
const byApproval = (window: FactWindow): AffectedBy => ({
  kinds: approvalKinds,
  keys: sql`
    select distinct contract_id, from_address as maker ${changesOf(window, approvalKinds)} and to_address = ${conduit}`,
  condition: sql`o.contract_id = c.contract_id and o.maker = c.maker and ${isOpen}`,
});

const channelKinds = ["channel_updated", "channel_read"] as const;
const byChannel = ({ changes }: FactWindow): AffectedBy => ({
  kinds: channelKinds,
  keys: sql`
    select distinct k.chain_id from ${changes} join log.contract k using (contract_id)
    where kind in ${kindList(...channelKinds)} and to_address = ${exchange} and k.address = ${conduit}`,
  condition: sql`o.chain_id = c.chain_id and ${isOpen}`,
});
