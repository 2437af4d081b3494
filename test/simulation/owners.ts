import { type Address, zeroAddress } from "viem";
import type { ChainEvent } from "../given.ts";
import { type Contents, rowText } from "./contents.ts";
import type { Mined } from "./history.ts";

const burnAddresses: readonly string[] = [
  zeroAddress,
  "0x000000000000000000000000000000000000dead",
];
const isBurn = (address: Address) => burnAddresses.includes(address);

/** Sums by keys of text. Keys whose sum is zero stay. */
class Sums extends Map<string, bigint> {
  add(key: readonly (string | bigint)[], amount: bigint): void {
    const text = key.join(" ");
    this.set(text, (this.get(text) ?? 0n) + amount);
  }
}

/** The tables of ownership, folded one event after the other in the order in which they stand on their chains. */
export function foldOwnership(canonical: Iterable<Mined>): Contents {
  const owners = new Map<string, Address>();
  const balances = new Sums();
  const supplies = new Sums();
  const moves = new Sums();
  const blocks = [...canonical].sort((one, other) => one.number - other.number);
  for (const event of blocks.flatMap(({ events }) => events)) {
    const contract = `${event.block.chainId}/${event.contract.slice(2)}`;
    for (const tokenId of idsOf(event))
      owners.set(`${contract} ${tokenId}`, event.to ?? zeroAddress);
    if (event.kind !== "erc1155_transfer") continue;
    const { from = zeroAddress, to = zeroAddress, tokenId = 0n, amount = 0n } = event;
    if (to !== zeroAddress) balances.add([contract, tokenId, to], amount);
    if (from !== zeroAddress) balances.add([contract, tokenId, from], -amount);
    const alive = (isBurn(to) ? 0n : amount) - (isBurn(from) ? 0n : amount);
    supplies.add([contract, tokenId], alive);
    moves.add([contract, tokenId], 1n);
  }
  return tables(owners, balances, supplies, moves);
}

function idsOf({ kind, tokenId = 0n, amount = 0n }: ChainEvent): bigint[] {
  if (kind === "erc721_transfer") return [tokenId];
  if (kind !== "erc721_consecutive_transfer") return [];
  return Array.from({ length: Math.max(0, Number(amount)) }, (_, index) => tokenId + BigInt(index));
}

function tables(
  owners: Map<string, Address>,
  balances: Sums,
  supplies: Sums,
  moves: Sums,
): Contents {
  const contents: Record<string, Record<string, string | null>[]> = {
    token: [],
    balance: [],
    holder: [],
    collection: [],
  };
  const holders = new Sums();
  const counters = new Map<
    string,
    { erc721: bigint; tokens: bigint; supply: bigint; units: bigint }
  >();
  const count = (contract: string, standard: 721 | 1155, supply: bigint) => {
    const counted = counters.get(contract) ?? { erc721: 0n, tokens: 0n, supply: 0n, units: 0n };
    counted.erc721 += standard === 721 ? 1n : 0n;
    counted.tokens += 1n;
    counted.supply += supply > 0n ? 1n : 0n;
    counted.units += supply;
    counters.set(contract, counted);
  };
  for (const [key, owner] of owners) {
    const [contract = "", token_id = ""] = key.split(" ");
    const supply = isBurn(owner) ? 0n : 1n;
    if (supply > 0n) holders.add([contract, owner], 1n);
    count(contract, 721, supply);
    contents.token?.push({
      contract_id: contract,
      token_id,
      standard: "721",
      owner: bytes(owner),
      supply: `${supply}`,
      is_burned: `${supply === 0n}`,
      transfers: null,
    });
  }
  for (const [key, supply] of supplies) {
    const [contract = "", token_id = ""] = key.split(" ");
    count(contract, 1155, supply);
    contents.token?.push({
      contract_id: contract,
      token_id,
      standard: "1155",
      owner: null,
      supply: `${supply}`,
      is_burned: `${supply <= 0n}`,
      transfers: `${moves.get(key)}`,
    });
  }
  for (const [key, units] of balances) {
    const [contract = "", token_id = "", owner = ""] = key.split(" ");
    if (units === 0n) continue;
    if (units > 0n && !burnAddresses.includes(owner)) holders.add([contract, owner], 1n);
    contents.balance?.push({
      contract_id: contract,
      token_id,
      owner: bytes(owner),
      units: `${units}`,
    });
  }
  for (const [key, tokens] of holders) {
    const [contract = "", owner = ""] = key.split(" ");
    contents.holder?.push({ contract_id: contract, owner: bytes(owner), tokens: `${tokens}` });
  }
  for (const [contract, { erc721, tokens, supply, units }] of counters) {
    const held = [...holders.keys()].filter((key) => key.startsWith(`${contract} `)).length;
    contents.collection?.push({
      contract_id: contract,
      erc721_tokens: `${erc721}`,
      tokens: `${tokens}`,
      supply: `${supply}`,
      units: `${units}`,
      holders: `${held}`,
      standard: erc721 > 0n ? "721" : "1155",
    });
  }
  return Object.fromEntries(
    Object.entries(contents).map(([table, rows]) => [table, rows.map(rowText).sort()]),
  );
}

function bytes(address: string): string {
  return `\\x${address.slice(2)}`;
}
