import { chainIdLegend } from "#chains/texts.ts";
import { hex, named, naming, standardOf, type View } from "./view.ts";

/** Ids of each range that the views show one by one: a range may hold any number of them. */
const MOST_OF_RANGE = 10_000;

const ranged = `
  select r.contract_id, generate_series(r.first_id, least(r.last_id, r.first_id + ${MOST_OF_RANGE - 1})) as token_id,
         721::smallint as standard, r.owner, (not r.is_burned)::int::numeric as supply, r.is_burned
  from ownership.token_range r`;
export const tokens = `(
  select contract_id, token_id, standard, owner, supply, is_burned from ownership.token union all ${ranged}
) o`;

export const tokensView: View = {
  name: "tokens",
  comment: `Tokens ever seen, burned ones included, with the owner of ERC-721 ones; of a range of ids (ERC-2309) those not moved since, ${MOST_OF_RANGE} at most`,
  from: `${tokens} ${naming}
    left join metadata.token d on d.contract_id = o.contract_id and d.token_id = o.token_id`,
  columns: [
    ["chain_id", "k.chain_id", chainIdLegend],
    ...named,
    ["token_id", "o.token_id", "Token id"],
    ["token_standard", standardOf("o.standard"), "erc721 or erc1155"],
    ["owner", hex("o.owner"), "Owner; null for ERC-1155, whose owners are in balances"],
    ["supply", "o.supply", "Units that are not burned: 0 or 1 for ERC-721"],
    ["is_burned", "o.is_burned", "Held by the zero address or 0x…dead, or no units are left"],
    ["name", "d.name", "Name in its metadata; null without metadata"],
    ["token_uri", "d.token_uri", "URI of its metadata"],
    ["attributes", "d.attributes", "Its traits as JSON; null without metadata"],
    ["metadata_updated_at", "d.updated_at", "When its metadata was last fetched"],
  ],
};

/** Both standards. */
export const holdings = `(
  select t.contract_id, t.token_id, t.standard, t.owner, 1::numeric as units
  from ownership.token t where t.owner is not null
  union all
  select r.contract_id, r.token_id, r.standard, r.owner, 1::numeric from (${ranged}) r
  union all
  select b.contract_id, b.token_id, 1155::smallint, b.owner, b.units
  from ownership.balance b where b.units > 0
) o`;

export const balancesView: View = {
  name: "balances",
  comment:
    "Who holds how many units of which token, of both standards; burn addresses hold burned units",
  from: `${holdings} ${naming}`,
  columns: [
    ["chain_id", "k.chain_id", chainIdLegend],
    ...named,
    ["token_id", "o.token_id", "Token id"],
    ["token_standard", standardOf("o.standard"), "erc721 or erc1155"],
    ["owner", hex("o.owner"), "Holder"],
    ["units", "o.units", "Units held: 1 for ERC-721"],
  ],
};
