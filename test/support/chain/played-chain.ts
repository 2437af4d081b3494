import type { Address, Hex } from "viem";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { Actor } from "#devnet/market/actors.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import type { Random } from "#test/simulation/random.ts";
import type { Market } from "./market.ts";

const standards = { erc721: [contracts.punks, contracts.consecutive] } as const;
export const editionIds = [1n, 2n, 3n];

/** Transfers of tokens on a local chain, drawn: mints alone and in ranges, sales' moves, burns, and reorgs. */
export function playTransfers({ client, actors }: Market, random: Random) {
  const players: readonly Actor[] = Object.values(actors).filter(
    ({ address }) => address !== actors.wallet.address,
  );
  const minted: { contract: Address; tokenId: bigint }[] = [];
  let nextId = 0n;
  let nextRange = 0n;
  const player = () => random.pick(players);

  async function ownerOf({ contract, tokenId }: (typeof minted)[number]): Promise<Actor | null> {
    const owner = await readOwner(client, contract, tokenId);
    return players.find(({ address }) => address.toLowerCase() === owner) ?? null;
  }

  async function mint(): Promise<void> {
    const [contract] = standards.erc721;
    nextId += 1n;
    minted.push({ contract, tokenId: nextId });
    await player().mints({ standard: "erc721", contract, tokenId: nextId });
  }

  async function mintRange(): Promise<void> {
    const count = BigInt(random.int(1, 4));
    await player().mintsConsecutive(contracts.consecutive, count);
    for (let id = 0n; id < count; id += 1n)
      minted.push({ contract: contracts.consecutive, tokenId: nextRange + id });
    nextRange += count;
  }

  async function move(): Promise<void> {
    if (minted.length === 0) return await mint();
    const token = random.pick(minted);
    const owner = await ownerOf(token);
    if (owner === null) return await mint();
    const nft: Nft = { standard: "erc721", ...token };
    if (random.chance(0.12)) await owner.burns(nft);
    else await owner.transfers(nft, player());
  }

  async function moveUnits(): Promise<void> {
    const [from, tokenId] = [player(), random.pick(editionIds)];
    const nft: Nft = { standard: "erc1155", contract: contracts.editions, tokenId };
    const units = await readUnits(client, from.address, tokenId);
    if (units === 0n) {
      const editions = { contract: nft.contract, tokenIds: editionIds, units: 3n };
      await (random.chance(0.3) ? from.mintsEditions(editions) : from.mints(nft, 5n));
    } else if (random.chance(0.15)) await from.burns(nft, units);
    else await from.transfers(nft, player(), BigInt(random.int(1, Number(units))));
  }

  const moves = [mint, mintRange, move, move, move, moveUnits, moveUnits];
  return {
    players,
    minted,
    async play(count: number): Promise<void> {
      for (let done = 0; done < count; done += 1) await random.pick(moves)();
    },
    /** Replaces the last blocks by others with some of their transactions. */
    async reorganize(): Promise<void> {
      const depth = random.int(1, 5);
      const head = await client.getBlockNumber();
      const raw: Hex[] = [];
      for (let number = head - BigInt(depth) + 1n; number <= head; number += 1n) {
        const { transactions } = await client.getBlock({ blockNumber: number });
        const params = (hash: Hex) => [hash];
        for (const hash of transactions)
          raw.push(
            await client.request({
              method: "eth_getRawTransactionByHash",
              params: params(hash),
            } as never),
          );
      }
      const kept = raw.slice(0, random.int(0, raw.length));
      const places = kept.map(() => random.int(0, depth - 1)).sort((one, other) => one - other);
      const pairs = kept.map((transaction, at) => [transaction, places[at]]);
      await client.request({ method: "anvil_reorg", params: [depth, pairs] } as never);
    },
  };
}

type Reader = Pick<Market["client"], "readContract">;

const ownerAbi = [
  {
    type: "function",
    name: "ownerOf",
    stateMutability: "view",
    inputs: [{ type: "uint256" }],
    outputs: [{ type: "address" }],
  },
] as const;
const unitsAbi = [
  {
    type: "function",
    name: "balanceOf",
    stateMutability: "view",
    inputs: [{ type: "address" }, { type: "uint256" }],
    outputs: [{ type: "uint256" }],
  },
] as const;
const countAbi = [
  {
    type: "function",
    name: "balanceOf",
    stateMutability: "view",
    inputs: [{ type: "address" }],
    outputs: [{ type: "uint256" }],
  },
] as const;

/** Lower case; null: the contract says there is no such token. Of the newest block, or of one. */
export async function readOwner(
  client: Reader,
  contract: Address,
  tokenId: bigint,
  blockNumber?: bigint,
): Promise<string | null> {
  const asked = { address: contract, abi: ownerAbi, functionName: "ownerOf" } as const;
  try {
    const owner = await client.readContract({ ...asked, args: [tokenId], ...at(blockNumber) });
    return owner.toLowerCase();
  } catch (error) {
    if (error instanceof Error && /revert/.test(error.message)) return null;
    throw error;
  }
}

const at = (blockNumber: bigint | undefined) => (blockNumber === undefined ? {} : { blockNumber });

export async function readUnits(
  client: Reader,
  owner: Address,
  tokenId: bigint,
  blockNumber?: bigint,
): Promise<bigint> {
  const asked = { address: contracts.editions, abi: unitsAbi, functionName: "balanceOf" } as const;
  return await client.readContract({ ...asked, args: [owner, tokenId], ...at(blockNumber) });
}

/** How many tokens of an ERC-721 contract an address had. */
export async function readCount(
  client: Reader,
  contract: Address,
  owner: Address,
  blockNumber: bigint,
): Promise<bigint> {
  const asked = { address: contract, abi: countAbi, functionName: "balanceOf" } as const;
  return await client.readContract({ ...asked, args: [owner], blockNumber });
}
