import type { Dialect } from "../views.ts";

export const duckdbDialect: Dialect = {
  createView: (name, select) => `create view ${name} as ${select}`,
  usd: (wei, priceE8) => `${wei}::double * ${priceE8} * 1e-26`,
  priceAge: (at) => `${at} - interval 2 hour`,
  lastPriceBefore: (at) =>
    `asof left join current_prices p on p._cell = s._cell and p.chain_id = s.chain_id and ${at} >= p.priced_at`,
  latest: (value, at) => `arg_max(${value}, ${at})`,
  isPast: (seconds) => `${seconds} <= epoch(now())`,
  wholeCells: "select cell from sync_state where (state->>'position')::bigint > 0",
  beyond: [],
};

/** The facts that are effective at a position of each cell: not of blocks whose last state up to it is retracted. */
export const factsAt = `create macro facts_at(upto) as table
  select f.* from facts f
  left join (
    select cell, block_id, arg_max(kind, position) as state from facts
    where kind in ('block_retracted', 'block_readopted') and position <= upto group by cell, block_id
  ) b on b.block_id = f.block_id and b.cell = f.cell
  where f.position <= upto and f.kind not in ('block_retracted', 'block_readopted')
    and coalesce(b.state, '') <> 'block_retracted'`;
