import { type Address, zeroAddress } from "viem";
import type { ChainEvent } from "../support/database/given.ts";
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

type Owned = { owner: Address; block_id: string; log_index: string; isRange: boolean };

type OwnershipState = {
  owners: Map<string, Owned>;
  /** By the last range of each id. */
  ranges: Map<string, Owned>;
  balances: Sums;
  /** By ERC-1155 id. */
  moved: Map<string, MovedUnits>;
};

type MovedUnits = {
  transfers: bigint;
  burned: bigint;
  unlogged: bigint;
  block_id?: string;
  log_index?: string;
};

/** The tables of ownership, computed one event after the other in chain order. */
export function applyOwnership(canonical: Iterable<Mined>): Contents {
  const state: OwnershipState = {
    owners: new Map(),
    ranges: new Map(),
    balances: new Sums(),
    moved: new Map(),
  };
  const blocks = [...canonical].sort((one, other) => one.number - other.number);
  for (const event of blocks.flatMap(({ events }) => events)) {
    const contract = `${event.block.chainId}/${event.contract.slice(2)}`;
    const { to: owner = zeroAddress, block, logIndex } = event;
    const isRange = event.kind === "erc721_consecutive_transfer";
    const owned = { owner, block_id: block.hash.slice(2), log_index: `${logIndex}`, isRange };
    for (const id of idsOf(event)) {
      state.owners.set(`${contract} ${id}`, owned);
      if (isRange) state.ranges.set(`${contract} ${id}`, owned);
    }
    if (event.kind === "erc1155_transfer") applyUnits(state, contract, event);
  }
  // What events of both standards tell of is an ERC-1155 id.
  for (const id of state.moved.keys()) state.owners.delete(id);
  return tables(state);
}

/** Whoever moves more than was given had the rest all along. */
function applyUnits(state: OwnershipState, contract: string, event: ChainEvent) {
  const { from = zeroAddress, to = zeroAddress, tokenId = 0n, amount = 0n } = event;
  const { balances, moved } = state;
  const token = `${contract} ${tokenId}`;
  const last = moved.get(token) ?? { transfers: 0n, burned: 0n, unlogged: 0n };
  const lack = from === zeroAddress ? 0n : amount - (balances.get(`${token} ${from}`) ?? 0n);
  if (lack > 0n) balances.add([token, from], lack);
  if (from !== zeroAddress) balances.add([token, from], -amount);
  if (to !== zeroAddress) balances.add([token, to], amount);
  moved.set(token, {
    transfers: last.transfers + 1n,
    burned: last.burned + (isBurn(to) ? amount : 0n),
    unlogged: last.unlogged + (lack > 0n ? lack : 0n),
    block_id: event.block.hash.slice(2),
    log_index: `${event.logIndex}`,
  });
}

function idsOf({ kind, tokenId = 0n, amount = 0n }: ChainEvent): bigint[] {
  if (kind === "erc721_transfer") return [tokenId];
  if (kind !== "erc721_consecutive_transfer") return [];
  return Array.from({ length: Math.max(0, Number(amount)) }, (_, index) => tokenId + BigInt(index));
}

type TokenRow = {
  contract_id: string;
  token_id: string;
  standard: string;
  supply: string;
  isRange: boolean;
};

function tables(state: OwnershipState): Contents {
  const tokens = [...erc721Tokens(state), ...erc1155Tokens(state)];
  const balances = [...state.balances]
    .filter(([, units]) => units !== 0n)
    .map(([key, units]) => {
      const [contract_id = "", token_id = "", owner = ""] = key.split(" ");
      return { contract_id, token_id, owner: bytes(owner), units: `${units}` };
    });
  const holders = countHolders(state);
  const collections = collectionsOf(tokens, holders);
  const holderRows = [...holders].map(([key, ids]) => {
    const [contract_id = "", owner = ""] = key.split(" ");
    return { contract_id, owner: bytes(owner), tokens: `${ids}` };
  });
  return {
    token: tokens.filter(({ isRange }) => !isRange).map(({ isRange: _, ...row }) => rowText(row)),
    last_range: runsOf(state.ranges).map(rowText),
    token_range: runsOf(new Map([...state.owners].filter(([, { isRange }]) => isRange)))
      .map((run) => ({ ...run, is_burned: `${isBurn(`0x${run.owner.slice(2)}`)}` }))
      .map(rowText),
    balance: balances.map(rowText),
    holder: holderRows.map(rowText),
    collection: collections.map(rowText),
  };
}

/** Runs of consecutive ids of one range. */
function runsOf(ranges: ReadonlyMap<string, Owned>) {
  const ids = [...ranges].map(([key, owned]) => {
    const [contract_id = "", id = ""] = key.split(" ");
    return { contract_id, id: BigInt(id), owned };
  });
  ids.sort((a, b) => a.contract_id.localeCompare(b.contract_id) || Number(a.id - b.id));
  const runs: { contract_id: string; first: bigint; last: bigint; owned: Owned }[] = [];
  for (const { contract_id, id, owned } of ids) {
    const run = runs.at(-1);
    if (run?.contract_id === contract_id && run.last + 1n === id && run.owned === owned)
      run.last = id;
    else runs.push({ contract_id, first: id, last: id, owned });
  }
  return runs.map(({ contract_id, first, last, owned: { owner, block_id, log_index } }) => {
    const ids = { first_id: `${first}`, last_id: `${last}` };
    return { contract_id, ...ids, owner: bytes(owner), block_id, log_index };
  });
}

function erc721Tokens({ owners }: OwnershipState) {
  return [...owners].map(([key, { owner, block_id, log_index, isRange }]) => {
    const [contract_id = "", token_id = ""] = key.split(" ");
    const is_burned = isBurn(owner);
    const place = { transfers: null, burned: null, unlogged: null, block_id, log_index };
    const row = { contract_id, token_id, standard: "721", owner: bytes(owner), ...place };
    return { ...row, supply: is_burned ? "0" : "1", is_burned: `${is_burned}`, isRange };
  });
}

function erc1155Tokens({ balances, moved }: OwnershipState) {
  const supplies = new Sums();
  for (const [key, units] of balances) {
    const [contract = "", id = "", owner] = key.split(" ");
    if (!isBurn(owner as Address)) supplies.add([contract, id], units);
  }
  return [...moved].map(([key, { transfers, burned, unlogged, ...place }]) => {
    const [contract_id = "", token_id = ""] = key.split(" ");
    const supply = supplies.get(key) ?? 0n;
    const row = { contract_id, token_id, standard: "1155", owner: null, supply: `${supply}` };
    const counts = { transfers: `${transfers}`, burned: `${burned}`, unlogged: `${unlogged}` };
    const is_burned = `${supply === 0n && burned > 0n}`;
    return { ...row, is_burned, ...counts, ...place, isRange: false };
  });
}

/** Ids by contract and holder. */
function countHolders({ owners, balances }: OwnershipState): Sums {
  const holders = new Sums();
  const held = [
    ...[...owners].map(([key, { owner }]) => [key.split(" ")[0] ?? "", owner] as const),
    ...[...balances]
      .filter(([, units]) => units > 0n)
      .map(([key]) => [key.split(" ")[0] ?? "", key.split(" ")[2] as Address] as const),
  ];
  for (const [contract, owner] of held) if (!isBurn(owner)) holders.add([contract, owner], 1n);
  return holders;
}

function collectionsOf(tokens: readonly TokenRow[], holders: Sums) {
  return [...new Set(tokens.map((token) => token.contract_id))].map((contract_id) => {
    const own = tokens.filter((token) => token.contract_id === contract_id);
    const erc721 = own.filter(({ standard }) => standard === "721").length;
    const supplies = own.map(({ supply }) => BigInt(supply));
    return {
      contract_id,
      erc721_tokens: `${erc721}`,
      tokens: `${own.length}`,
      supply: `${supplies.filter((supply) => supply > 0n).length}`,
      units: `${supplies.reduce((sum, supply) => sum + supply, 0n)}`,
      holders: `${[...holders.keys()].filter((key) => key.startsWith(`${contract_id} `)).length}`,
      standard: erc721 > 0 ? "721" : "1155",
    };
  });
}

function bytes(address: string): string {
  return `\\x${address.slice(2)}`;
}
