import { encodeAbiParameters, encodeEventTopics, type Hex, pad } from "viem";
import { expect, it } from "vitest";
import { hasTopicsOf } from "#abis/event-topics.ts";
import { erc721Abi, plainTransferAbi, unindexedTransferAbi } from "#abis/tokens.ts";
import { startAnvil } from "#devnet/anvil.ts";
import { connect } from "#devnet/client.ts";
import type { ChainConfig } from "#ops/config/config.ts";
import { decodeArguments } from "#ops/ponder/indexed-sources.ts";
import { assignIndexers, readIndexers } from "#ops/ponder/indexers.ts";
import { plainTransfers } from "#ops/ponder/plain-transfers.ts";
import { schemaName } from "#ops/ponder/ponder-schema.ts";
import { addressOf } from "#test/support/database/given.ts";
import { createDatabase } from "#test/support/database/postgres.ts";

const [old, coin] = [addressOf(80), addressOf(81)];
const curated = { collections: [] };

it("transfers of other shapes are indexed of named contracts that are no coin, beside all else", async () => {
  const [{ db, drop }, anvil] = await Promise.all([createDatabase(), startAnvil({ chainId: 1 })]);
  try {
    const client = connect(anvil);
    // One reverts whatever it is asked, the other answers everything by 32 bytes.
    await client.setCode({ address: old, bytecode: "0x60006000fd" });
    await client.setCode({ address: coin, bytecode: "0x601260005260206000f3" });
    await client.mine({ blocks: 1 });
    const chain: ChainConfig = {
      ...{ chainId: 1, rpcUrls: [anvil.rpcUrl], wsUrl: null, startBlock: 0, logsBlockRange: null },
      ...{ finalityBlocks: 30, collections: [old, coin], wrappedNativeEvents: "none" },
    };
    const assign = () => assignIndexers(db, { chain, curated, processes: "shared" });
    await assign();
    const [before] = await readIndexers(db, chain, curated);
    expect(await plainTransfers({ db, chain, curated }).run(new AbortController().signal)).toBe(
      "ended",
    );
    await assign();
    const [core, ...others] = await readIndexers(db, chain, curated);
    const plain = others.find(({ name }) => name === "plain-1");
    const indexed = plain?.recorded.sources.map(({ name, addresses }) => ({ name, addresses }));
    expect(indexed).toEqual([
      { name: "Erc721Plain", addresses: [old] },
      { name: "Erc721Unindexed", addresses: [old] },
    ]);
    expect(core && before && schemaName(core.sources, 0)).toBe(
      before && schemaName(before.sources, 0),
    );
  } finally {
    await anvil.stop();
    await drop();
  }
});

it("each shape of a transfer is decoded as itself alone", () => {
  const [from, to] = [addressOf(1), addressOf(2)];
  const party = (address: Hex) => pad(address, { size: 32 });
  const id = encodeAbiParameters([{ type: "uint256" }], [7n]);
  const [topic = "0x"] = encodeEventTopics({ abi: erc721Abi, eventName: "Transfer" });
  const words = encodeAbiParameters(
    [{ type: "address" }, { type: "address" }, { type: "uint256" }],
    [from, to, 7n],
  );
  const events = [erc721Abi[0], plainTransferAbi[0], unindexedTransferAbi[0]];
  const shapes = [
    { topics: [topic as Hex, party(from), party(to), id], data: "0x" as const },
    { topics: [topic as Hex, party(from), party(to)], data: id },
    { topics: [topic as Hex], data: words },
    // Data that fits another shape too.
    { topics: [topic as Hex, party(from), party(to), id], data: words },
  ];
  const decoded = shapes.map((log) => events.map((event) => decodeArguments(event, log)));
  const args = { from, to, tokenId: "7" };
  expect(decoded).toEqual([
    [args, null, null],
    [null, args, null],
    [null, null, args],
    [args, null, null],
  ]);
  const taken = shapes.map((log) => events.map((event) => hasTopicsOf(event, log.topics)));
  expect(taken).toEqual(decoded.map((row) => row.map((one) => one !== null)));
  const padded = shapes.map(({ topics }) => ({
    topics: [...topics, null, null, null].slice(0, 4) as (Hex | null)[],
  }));
  expect(padded.map((log) => events.map((event) => hasTopicsOf(event, log.topics)))).toEqual(taken);
});
