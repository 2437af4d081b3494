import type { Dialect } from "../views.ts";

export const duckdbDialect: Dialect = {
  createView: (name, select) => `create view ${name} as ${select}`,
  usd: (wei, priceE8) => `${wei}::double * ${priceE8} * 1e-26`,
  priceAge: (at) => `${at} - interval 2 hour`,
  lastPriceBefore: (at) =>
    `asof left join current_prices p on p.chain_id = s.chain_id and ${at} >= p.priced_at`,
  latest: (value, at) => `arg_max(${value}, ${at})`,
  isPast: (seconds) => `${seconds} <= epoch(now())`,
  beyond: [],
};

/** The facts that are effective at a position: not of blocks whose last state up to it is retracted. */
export const factsAt = `create macro facts_at(upto) as table
  select f.* from facts f
  left join (
    select block_id, arg_max(kind, position) as state from facts
    where kind in ('block_retracted', 'block_readopted') and position <= upto group by block_id
  ) b on b.block_id = f.block_id
  where f.position <= upto and f.kind not in ('block_retracted', 'block_readopted')
    and coalesce(b.state, '') <> 'block_retracted'`;
