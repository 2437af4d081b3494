import { sql } from "kysely";
import { decodeEventLog, type Hex, zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seaport } from "../../abis/deployments.ts";
import { erc721Abi, erc1155Abi } from "../../abis/tokens.ts";
import {
  hasRecordedBlocks,
  type RecordedBlock,
  type RecordedLog,
  readExpectedSales,
  readRecordedBlocks,
  serveRecordedChain,
} from "../support/chain/recorded-chain.ts";
import { type Pipeline, startPipeline, untilReady } from "../support/database/pipeline.ts";
import { createDatabase, type TestDatabase } from "../support/database/postgres.ts";
import { ownedTokens } from "../support/market-data/owned-tokens.ts";

const fulfilledTopic = "0x9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31";

/** A transfer decoded from the chain's logs; a range of ids is several transfers. */
type Move = { contract: Hex; standard: 721 | 1155; from: Hex; to: Hex; id: bigint; units: bigint };

type WireSale = {
  contract: Hex;
  tokenId: string;
  quantity: string;
  totalWei: string;
  currency: { address: Hex };
  seller: Hex;
  buyer: Hex;
  txHash: Hex;
  orderHash: Hex;
  protocol: { name: string; version: string };
  logIndex: number;
  bundle: { size: number; totalWei: string } | null;
};

describe.runIf(hasRecordedBlocks)("the pipeline on recorded mainnet blocks", () => {
  let blocks: RecordedBlock[];
  let node: Awaited<ReturnType<typeof serveRecordedChain>>;
  let database: TestDatabase;
  let pipeline: Pipeline;
  let all: WireSale[];
  /** Those of Seaport, whose orders tell the parties. */
  let sales: WireSale[];

  beforeAll(async () => {
    blocks = readRecordedBlocks();
    node = await serveRecordedChain(blocks);
    database = await createDatabase();
    pipeline = await startPipeline({
      databaseUrl: database.url,
      chains: [{ chainId: 1, rpcUrl: node.rpcUrl }],
      settings: { START_BLOCK_1: String((blocks[0]?.number ?? 0) - 10) },
    });
    await untilReady(pipeline, 120_000);
    all = await walkSales(pipeline);
    sales = all.filter(({ protocol }) => protocol.name === "seaport");
  });

  afterAll(async () => {
    await pipeline?.stop();
    await database?.drop();
    await node?.stop();
  });

  it("serves a sale for every order that was fulfilled, of every version of the exchange", () => {
    const fulfilled = blocks.flatMap(({ logs }) => logs.filter(isFulfilment));
    expect(fulfilled.length).toBeGreaterThan(40);
    const ofSeaport = sales.filter(({ protocol }) => protocol.name === "seaport");
    expect([...new Set(ofSeaport.map(({ protocol }) => protocol.version))].sort()).toEqual([
      "1.1",
      "1.4",
      "1.5",
      "1.6",
    ]);
    for (const { transactionHash } of fulfilled) {
      expect(sales.map(({ txHash }) => txHash)).toContain(transactionHash);
    }
  });

  it("serves every sale of Blur that the recorded blocks are known to hold", () => {
    const expected = readExpectedSales().filter(({ exchange }) => exchange === "blur");
    expect(expected.length).toBeGreaterThan(0);
    for (const { txHash, logIndex, contract, tokenId, totalWei, seller, buyer } of expected) {
      const sale = all.find((one) => one.txHash === txHash && one.logIndex === logIndex);
      const row = { contract, tokenId, totalWei, seller, buyer };
      expect(sale, txHash).toMatchObject(row);
    }
  });

  /** Of Sudoswap's pools no log tells the price. */
  it("serves the sales of the other exchanges that were checked by hand, and no others", () => {
    const expected = readExpectedSales().filter(({ exchange }) => exchange !== "sudoswap");
    expect(expected.length).toBe(25);
    const others = all.filter(({ protocol }) => protocol.name !== "seaport");
    const keyOf = ({
      txHash,
      contract,
      tokenId,
    }: Pick<WireSale, "txHash" | "contract" | "tokenId">) => `${txHash} ${contract} ${tokenId}`;
    const served = others.map((sale) => ({
      key: keyOf(sale),
      ...{ exchange: sale.protocol.name, version: sale.protocol.version },
      ...{ totalWei: sale.totalWei, quantity: String(sale.quantity), orderHash: sale.orderHash },
      ...{ seller: sale.seller, buyer: sale.buyer },
    }));
    const wanted = expected.map((sale) => {
      const { exchange, version, totalWei, quantity, orderHash, seller, buyer } = sale;
      return { key: keyOf(sale), exchange, version, totalWei, quantity, orderHash, seller, buyer };
    });
    const byKey = (one: { key: string }, two: { key: string }) => one.key.localeCompare(two.key);
    expect(served.toSorted(byKey)).toEqual(wanted.toSorted(byKey));
  });

  it("finds a transfer from seller to buyer in the block for each NFT sold", () => {
    // Foundation's market holds what it auctions.
    for (const sale of all.filter(({ protocol }) => protocol.name !== "foundation")) {
      const moves = logsOf(sale.txHash).flatMap(movesOf);
      const holder = moves
        .filter(({ contract, id }) => contract === sale.contract && id === BigInt(sale.tokenId))
        .reduce((at, { from, to }) => (from === at ? to : at), sale.seller);
      const isMinted = moves.some(
        ({ contract, id, from, to }) =>
          contract === sale.contract &&
          id === BigInt(sale.tokenId) &&
          from === zeroAddress &&
          to === sale.buyer,
      );
      expect(holder === sale.buyer || isMinted, `${sale.txHash} ${sale.tokenId}`).toBe(true);
    }
  });

  it("derives one sale per NFT of a direct call to the exchange, at the value paid", () => {
    const exchanges: string[] = Object.values(seaport);
    const direct = blocks.flatMap(({ transactions }) =>
      transactions.filter(
        ({ to, value }) => value !== undefined && exchanges.includes(String(to).toLowerCase()),
      ),
    );
    expect(direct.length).toBeGreaterThan(10);
    for (const { hash, value } of direct) {
      const rows = sales.filter(({ txHash }) => txHash === hash);
      if (rows.length === 0) continue;
      expect(rows.length).toBe(logsOf(hash as Hex).flatMap(movesOf).length);
      const native = rows.filter(({ currency }) => currency.address === zeroAddress);
      const total = native.reduce((sum, { totalWei }) => sum + BigInt(totalWei), 0n);
      if (native.length > 0) expect(total, String(hash)).toBe(BigInt(value as string));
    }
  });

  it("derives the owners and balances that the transfer logs add up to", async () => {
    const { owners, balances } = sumTransfers(blocks.flatMap(({ logs }) => logs.flatMap(movesOf)));
    const stored = await sql<{ key: string; owner: Hex }>`
      select concat_ws('/', '0x' || encode(c.address, 'hex'), t.token_id) as key, t.owner
      from ${ownedTokens} t join log.contract c using (contract_id)
      where t.standard = 721`.execute(database.db);
    expect(owners.size).toBeGreaterThan(100);
    expect(new Map(stored.rows.map(({ key, owner }) => [key, owner]))).toEqual(owners);

    const held = await sql<{ key: string; units: bigint }>`
      select concat_ws('/', '0x' || encode(c.address, 'hex'), b.token_id, '0x' || encode(b.owner, 'hex')) as key,
             b.units
      from ownership.balance b join log.contract c using (contract_id)`.execute(database.db);
    expect(balances.size).toBeGreaterThan(10);
    expect(new Map(held.rows.map(({ key, units }) => [key, units]))).toEqual(balances);
  });

  function logsOf(hash: Hex): RecordedLog[] {
    return blocks.flatMap(({ logs }) => logs.filter((log) => log.transactionHash === hash));
  }
});

async function walkSales(pipeline: Pipeline): Promise<WireSale[]> {
  const all: WireSale[] = [];
  let cursor = "";
  for (;;) {
    const { body } = await pipeline.get(`/v1/sales?chainId=1&per_page=20${cursor}`);
    const { data, meta } = body as {
      data: WireSale[];
      meta: { next_cursor: string | null; total: number };
    };
    all.push(...data);
    if (meta.next_cursor === null) {
      expect(all.length).toBe(meta.total);
      return all;
    }
    cursor = `&cursor=${encodeURIComponent(meta.next_cursor)}`;
  }
}

function isFulfilment({ address, topics }: RecordedLog): boolean {
  const exchanges: string[] = Object.values(seaport);
  return exchanges.includes(address.toLowerCase()) && topics[0] === fulfilledTopic;
}

/** Last recipient of each ERC-721 token; units received less units sent of each ERC-1155 id. */
function sumTransfers(moves: readonly Move[]) {
  const owners = new Map<string, Hex>();
  const balances = new Map<string, bigint>();
  const add = (key: string, units: bigint) => {
    const next = (balances.get(key) ?? 0n) + units;
    if (next === 0n) balances.delete(key);
    else balances.set(key, next);
  };
  for (const { contract, standard, from, to, id, units } of moves) {
    if (standard === 721) owners.set(`${contract}/${id}`, to);
    else {
      if (from !== zeroAddress) add(`${contract}/${id}/${from}`, -units);
      if (to !== zeroAddress) add(`${contract}/${id}/${to}`, units);
    }
  }
  return { owners, balances };
}

function movesOf({ address, topics, data }: RecordedLog): Move[] {
  const contract = address.toLowerCase() as Hex;
  const event = decode(topics, data);
  if (event === null) return [];
  const parties = (from: Hex, to: Hex) => ({
    contract,
    from: from.toLowerCase() as Hex,
    to: to.toLowerCase() as Hex,
  });
  if (event.eventName === "Transfer") {
    const { from, to, tokenId } = event.args;
    return [{ ...parties(from, to), standard: 721, id: tokenId, units: 1n }];
  }
  if (event.eventName === "TransferSingle") {
    const { from, to, id, value } = event.args;
    return [{ ...parties(from, to), standard: 1155, id, units: value }];
  }
  if (event.eventName === "TransferBatch") {
    const { from, to, ids, values } = event.args;
    return ids.map((id, at) => ({
      ...parties(from, to),
      standard: 1155,
      id,
      units: values[at] ?? 0n,
    }));
  }
  return [];
}

function decode(topics: Hex[], data: Hex) {
  try {
    return decodeEventLog({
      abi: [...erc721Abi, ...erc1155Abi],
      topics: topics as [Hex, ...Hex[]],
      data,
    });
  } catch {
    return null;
  }
}
