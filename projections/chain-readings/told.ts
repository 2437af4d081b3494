import { type RawBuilder, sql } from "kysely";
import type { EffectiveFacts } from "../engine/projection.ts";
import { kindList } from "../log/fact-kind-sql.ts";
import { exchangeContracts } from "../order-state/exchange-contracts.ts";
import { fillsAndCancels } from "../order-state/fills-and-cancels.ts";
import { type FactSelection, latestFacts, type RecomputeSet } from "../order-state/select-facts.ts";
import { unitsTransferredUpTo } from "../order-state/transferred-units.ts";
import { zeroAddress } from "../sql/burn-address.ts";
import type { ChainReading } from "./chain-reading.ts";
import { allowanceTold, balanceTold } from "./told-currency.ts";

/** Readings of a block, compared with the effective facts in one statement. */
export type Asked = EffectiveFacts & {
  /** Those of a kind as rows `o`: `ord`, `chain_id`, `contract_id`, `token_id`, `maker`, `to_address`, `order_hash`, `amount`, `payload`. */
  of: (kind: ChainReading["kind"]) => RawBuilder<unknown>;
  /** Block ids of the chain from the block after the readings' on. */
  beforeBlock: bigint;
  endOfChain: bigint;
};

/** Selects `ord` of the readings of a kind that say what the log does not. */
export function tellsAnew(kind: ChainReading["kind"], asked: Asked): RawBuilder<unknown> {
  const judged: RecomputeSet = {
    orders: asked.of(kind),
    upTo: asked.upTo,
    facts: asked.facts,
    retractedBlocks: asked.retractedBlocks,
    beforeBlock: asked.beforeBlock,
  };
  switch (kind) {
    case "order_status_read":
      return statusesAnew(asked, judged);
    case "owner_read":
      return ownersAnew(asked, judged);
    case "units_read":
      return unitsAnew(asked, judged);
    case "balance_read":
      return amountsAnew(asked, kind, balanceTold(judged));
    case "allowance_read":
      return amountsAnew(asked, kind, allowanceTold(judged));
    default:
      return newestAnew(asked, kind, judged);
  }
}

const byMaker = { contract_id: "contract_id", from_address: "maker" };

/** Where the newest fact of a subject is all there is to know; and what holds where there is none. */
const newest = {
  counter_read: {
    evidence: { kinds: ["counter_incremented", "counter_read"], subject: byMaker },
    otherwise: 0,
  },
  approval_read: {
    evidence: {
      kinds: ["approval_for_all", "approval_read"],
      subject: { ...byMaker, to_address: "to_address" },
    },
    otherwise: 0,
  },
  transfer_read: {
    evidence: { kinds: ["transfer_read"], subject: { ...byMaker, token_id: "token_id" } },
    otherwise: 1,
  },
  signature_read: {
    evidence: {
      kinds: ["signature_read"],
      subject: { contract_id: "contract_id", order_hash: "order_hash" },
    },
    otherwise: 1,
  },
  channel_read: {
    evidence: {
      kinds: ["channel_updated", "channel_read"],
      subject: { contract_id: "contract_id", to_address: "to_address" },
    },
    otherwise: 1,
  },
} as const satisfies Partial<
  Record<ChainReading["kind"], { evidence: FactSelection; otherwise: number }>
>;

function newestAnew(
  asked: Asked,
  kind: keyof typeof newest,
  judged: RecomputeSet,
): RawBuilder<unknown> {
  const { evidence, otherwise } = newest[kind];
  const same = Object.values(evidence.subject).map(
    (column) => sql`t.${sql.ref(column)} = o.${sql.ref(column)}`,
  );
  return sql`
    select o.ord from ${asked.of(kind)}
    left join (${latestFacts(judged, evidence)}) t on ${sql.join(same, sql` and `)}
    where o.amount <> coalesce(t.amount, ${sql.lit(otherwise)})`;
}

/** `told` has `ord` and the `amount` that the log tells. */
function amountsAnew(
  asked: Asked,
  kind: ChainReading["kind"],
  told: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select o.ord from ${asked.of(kind)} join (${told}) t using (ord) where o.amount <> t.amount`;
}

/** Of an order that the log does not hold it cannot tell how many units are filled. */
function statusesAnew(asked: Asked, judged: RecomputeSet): RawBuilder<unknown> {
  const told = (side: "ask" | "bid") =>
    fillsAndCancels({ ...judged, orders: sql`(select * from known where side = ${side}) o` }, side);
  return sql`
    select ord from (
      with venue as materialized (${exchangeContracts}), known as materialized (
        select o.ord, o.order_hash, v.exchange_id, o.payload, f.amount as quantity, f.payload -> 'terms' ->> 'side' as side
        from ${asked.of("order_status_read")}
        left join venue v using (chain_id)
        left join lateral (
          select f.amount, f.payload from ${judged.facts} f join log.contract k using (contract_id)
          where f.order_hash = o.order_hash and f.kind in ${kindList("order_submitted", "partner_listing_seen")}
            and k.chain_id = o.chain_id
          limit 1
        ) f on true
      )
      select o.ord
      from known o
      left join (${told("ask")} union all ${told("bid")}) t
        on t.order_hash = o.order_hash and t.exchange_id = o.exchange_id
      where (o.payload ->> 'cancelled')::boolean <> coalesce(t.is_cancelled, false)
        or coalesce(t.filled, 0) <> case
             when o.quantity is null then (o.payload ->> 'filled')::numeric
             else coalesce(div(o.quantity * (o.payload ->> 'filled')::numeric,
                    nullif((o.payload ->> 'size')::numeric, 0)), 0) end
    ) status`;
}

/** A token that moved after the readings' block has an owner that they do not know. */
function ownersAnew(asked: Asked, judged: RecomputeSet): RawBuilder<unknown> {
  const read = latestFacts(judged, {
    kinds: ["owner_read"],
    subject: { contract_id: "contract_id", token_id: "token_id" },
  });
  return sql`
    select o.ord
    from ${asked.of("owner_read")}
    left join ownership.token t
      on t.contract_id = o.contract_id and t.token_id = o.token_id and t.standard = 721
    left join (${read}) r on r.contract_id = o.contract_id and r.token_id = o.token_id
    where coalesce(t.block_id, 0) < ${asked.beforeBlock}
      and o.to_address is distinct from
        case when r.block_id is null or t.block_id >> 12 > r.block_id >> 12 then nullif(t.owner, ${zeroAddress})
             else r.fact_to_address end`;
}

/** The balance now, less what moved since the readings' block; or what was read before and what moved from there. */
function unitsAnew(asked: Asked, judged: RecomputeSet): RawBuilder<unknown> {
  const read = latestFacts(judged, {
    kinds: ["units_read"],
    subject: { ...byMaker, token_id: "token_id" },
  });
  return sql`
    select ord from (
      with since as materialized (
        select f.contract_id, f.token_id, f.from_address, f.to_address, f.amount
        from ${judged.facts} f
        where f.block_id >= ${asked.beforeBlock} and f.block_id < ${asked.endOfChain} and f.log_index is not null
          and f.kind in ${kindList("erc1155_transfer")}
          and f.position <= (select position from engine.checkpoint where projection = 'ownership')
          and not exists (select from ${judged.retractedBlocks} d where d.block_id = f.block_id)
      )
      select o.ord
      from ${asked.of("units_read")}
      left join ownership.balance b
        on b.contract_id = o.contract_id and b.token_id = o.token_id and b.owner = o.maker
      left join (${read}) r
        on r.contract_id = o.contract_id and r.token_id = o.token_id and r.maker = o.maker
      left join lateral (${unitsTransferredUpTo(judged)}) before on r.amount is not null
      cross join lateral (
        select coalesce(sum(case when s.to_address = o.maker then s.amount else 0 end
                            - case when s.from_address = o.maker then s.amount else 0 end), 0) as units
        from since s where s.contract_id = o.contract_id and s.token_id = o.token_id
      ) moved
      where o.amount <> coalesce(b.units, 0) - moved.units + coalesce(r.amount - before.units, 0)
    ) units`;
}
