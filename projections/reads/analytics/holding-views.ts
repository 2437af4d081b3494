import { hex, named, naming, standardOf, type View } from "./view.ts";

export const tokensView: View = {
  name: "tokens",
  comment: "Tokens ever seen, burned ones included, with the owner of ERC-721 ones",
  from: `ownership.token o ${naming}
    left join metadata.token d on d.contract_id = o.contract_id and d.token_id = o.token_id`,
  columns: [
    ["chain_id", "k.chain_id", "1: Ethereum; 33139: ApeChain"],
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

/** Both standards. A balance is negative where a contract's first transfers are not in the log. */
const holdings = `(
  select t.contract_id, t.token_id, t.standard, t.owner, 1::numeric as units
  from ownership.token t where t.owner is not null
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
    ["chain_id", "k.chain_id", "1: Ethereum; 33139: ApeChain"],
    ...named,
    ["token_id", "o.token_id", "Token id"],
    ["token_standard", standardOf("o.standard"), "erc721 or erc1155"],
    ["owner", hex("o.owner"), "Holder"],
    ["units", "o.units", "Units held: 1 for ERC-721"],
  ],
};
