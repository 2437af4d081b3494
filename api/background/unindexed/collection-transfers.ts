import { type Address, decodeEventLog, toEventSelector } from "viem";
import { erc1155Abi } from "#abis/tokens.ts";
import type { Database } from "#projections/log/database.ts";
import { type ListedToken, readAddedTokens, readListedContracts, readListedTokens, readListedTokensAmong } from "#projections/orders/read-orders-without-events.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import type { ChainClient } from "#jobs/chain/client.ts";
import type { ChainLog } from "#jobs/chain/fetch-logs.ts";
import type { FollowedSource } from "./followed-source.ts";

/** Addresses of one filter. */
const maxAddresses = 200;
const pageSize = 400;

const erc721Transfer = toEventSelector("Transfer(address,address,uint256)");
const transfers = [
  erc721Transfer,
  toEventSelector("TransferSingle(address,address,address,uint256,uint256)"),
  toEventSelector("TransferBatch(address,address,address,uint256[],uint256[])"),
];

/** Owners of listed tokens of the contracts whose transfers are not indexed; `readIndexed`: those that are now. */
export function collectionTransfers(
  db: Database,
  { chainId }: ChainClient,
  readIndexed: () => Promise<readonly Address[]>,
): FollowedSource {
  const readInBook = async () => ({ chainId, indexed: await readIndexed() });
  return {
    name: "collection transfers",
    async readFilters() {
      const contracts = await readListedContracts(db, await readInBook());
      const starts = [...contracts.keys()].filter((index) => index % maxAddresses === 0);
      return starts.map((start) => ({
        addresses: contracts.slice(start, start + maxAddresses),
        topics: [transfers],
      }));
    },
    async readTouched(logs) {
      const inBook = await readInBook();
      return (await readListedTokensAmong(db, inBook, logs.flatMap(movedTokens))).map(ownerQuery);
    },
    async readAdded(window) {
      return (await readAddedTokens(db, await readInBook(), window)).map(ownerQuery);
    },
    async readPage(after) {
      const position = after === null ? null : BigInt(after);
      const page = await readListedTokens(db, await readInBook(), position, pageSize);
      const last = page.length < pageSize ? undefined : page.at(-1);
      return { queries: page.map(ownerQuery), after: last ? `${last.position}` : null };
    },
  };
}

function ownerQuery({ contract, tokenId, standard, maker }: ListedToken): ChainQuery {
  return standard === 721
    ? { kind: "owner_read", contract, tokenId }
    : { kind: "units_read", contract, tokenId, owner: maker };
}

/** A log that does not decode moves no token. */
function movedTokens({
  address,
  topics,
  data,
}: ChainLog): { contract: Address; tokenId: bigint }[] {
  const isErc721 = topics[0] === erc721Transfer;
  if (isErc721) {
    const [, , , tokenId] = topics;
    return tokenId === undefined ? [] : [{ contract: address, tokenId: BigInt(tokenId) }];
  }
  try {
    const { args } = decodeEventLog({
      abi: erc1155Abi,
      topics: topics as [`0x${string}`, ...`0x${string}`[]],
      data,
    }) as { args: { id?: bigint; ids?: readonly bigint[] } };
    const ids = args.ids ?? (args.id === undefined ? [] : [args.id]);
    return ids.map((tokenId) => ({ contract: address, tokenId }));
  } catch {
    return [];
  }
}
