import { type Address, isAddressEqual, parseEventLogs, toEventSelector, zeroAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { seaportAddresses } from "#abis/deployments.ts";
import { conduitAbi, seaportEvents, seaportFunctions } from "#abis/seaport.ts";
import { erc20Abi, erc721Abi, erc1155Abi, wrappedNativeAbi } from "#abis/tokens.ts";
import { type ChainId, wrappedNative } from "#chains/index.ts";
import type { Nft } from "#projections/domain/seaport/draft-components.ts";
import type { SignedOrder } from "#projections/domain/seaport/order-components.ts";
import { orderHash } from "#projections/domain/seaport/order-hash.ts";
import { accounts } from "../accounts.ts";
import { type Anvil, startAnvil } from "../anvil.ts";
import { connect, type DevnetClient } from "../client.ts";
import { contracts } from "../contracts/addresses.ts";
import { installContracts } from "../install.ts";
import { type Actors, createActors } from "./actors.ts";
import { seededRandom } from "./random.ts";
import { historySeconds, isSeeded, seedMarket } from "./seed.ts";
import { sendAsMined } from "./signer.ts";
import { runTrading } from "./trading.ts";

const nowSeconds = () => Math.floor(Date.now() / 1000);

async function openChain(chainId: ChainId): Promise<{ anvil: Anvil; client: DevnetClient }> {
  const anvil = await startAnvil({ chainId, timestamp: nowSeconds() - historySeconds });
  const client = connect(anvil);
  await installContracts(client);
  return { anvil, client };
}

async function openSeeded(chainId: ChainId, seed: number) {
  const chain = await openChain(chainId);
  await seedMarket(chain.client, { chainId, seed });
  return chain;
}

const readLogs = (client: DevnetClient) => client.getLogs({ fromBlock: 0n });

const readFills = async (client: DevnetClient) =>
  parseEventLogs({ abi: seaportEvents, eventName: "OrderFulfilled", logs: await readLogs(client) });

/** The amounts of each fill, in order. */
const readPrices = async (client: DevnetClient) =>
  (await readFills(client)).map(({ args }) =>
    [...args.offer, ...args.consideration].map((item) => item.amount),
  );

describe.each([1, 33139] as const)("the seeded market of chain %i", (chainId) => {
  let chain: { anvil: Anvil; client: DevnetClient };

  beforeAll(async () => {
    chain = await openSeeded(chainId, 7);
  });
  afterAll(() => chain.anvil.stop());

  it("emits every kind of event that is indexed", async () => {
    const abis = [seaportEvents, conduitAbi, erc721Abi, erc1155Abi, erc20Abi, wrappedNativeAbi];
    const events = abis.flat().filter((item) => item.type === "event");
    const seen = new Set((await readLogs(chain.client)).map((log) => log.topics[0]));

    const missing = events.filter((event) => !seen.has(toEventSelector(event)));

    expect(events).toHaveLength(15);
    expect(missing).toEqual([]);
  });

  it("burns tokens, revokes approvals and restores them", async () => {
    const logs = await readLogs(chain.client);
    const transfers = parseEventLogs({ abi: erc721Abi, eventName: "Transfer", logs });
    const approvals = parseEventLogs({ abi: erc721Abi, eventName: "ApprovalForAll", logs });

    expect(transfers.some(({ args }) => args.to === zeroAddress)).toBe(true);
    expect(approvals.some(({ args }) => !args.approved)).toBe(true);
    expect(approvals.at(-1)?.args.approved).toBe(true);
  });

  it("fills bundles, partial amounts, and contract makers' orders", async () => {
    const fills = (await readFills(chain.client)).map(({ args }) => args);

    expect(fills.some(({ offer }) => offer.length === 2)).toBe(true);
    expect(fills.some(({ offer }) => offer[0]?.itemType === 3 && offer[0].amount === 3n)).toBe(
      true,
    );
    expect(fills.some((fill) => isAddressEqual(fill.offerer, contracts.smartWallet))).toBe(true);
  });

  it("spreads at least 120 blocks over the three days that end now", async () => {
    const head = await chain.client.getBlock();
    const [firstFill] = await readFills(chain.client);
    const firstSale = await chain.client.getBlock({ blockNumber: firstFill?.blockNumber ?? 0n });

    expect(head.number).toBeGreaterThanOrEqual(120n);
    expect(Math.abs(nowSeconds() - Number(head.timestamp))).toBeLessThan(30);
    expect(Number(head.timestamp - firstSale.timestamp)).toBeGreaterThan(historySeconds / 2);
  });

  it("is recognized as completely seeded", async () => {
    expect(await isSeeded(chain.client)).toBe(true);
  });

  it("pays the service its fee of each sale", async () => {
    const { client } = chain;
    const paid = await Promise.all([
      client.getBalance({ address: accounts.feeRecipient }),
      wrappedBalance(client, chainId, accounts.feeRecipient),
    ]);
    const expectedFees = (await readFills(client)).flatMap(({ args }) =>
      args.consideration
        .filter(({ recipient }) => isAddressEqual(recipient, accounts.feeRecipient))
        .map(({ amount }) => amount),
    );

    expect(paid[0] + paid[1]).toBe(expectedFees.reduce((sum, amount) => sum + amount, 0n));
  });
});

describe("a seed", () => {
  it("gives the same sale prices again; another seed gives different ones", async () => {
    const chains = await Promise.all([openSeeded(1, 7), openSeeded(1, 7), openSeeded(1, 8)]);
    const [first, again, other] = await Promise.all(chains.map(({ client }) => readPrices(client)));
    await Promise.all(chains.map(({ anvil }) => anvil.stop()));

    expect(first?.length).toBeGreaterThan(40);
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });
});

describe("a market without a history", () => {
  const punk: Nft = { standard: "erc721", contract: contracts.punks, tokenId: 900n };
  const edition: Nft = { standard: "erc1155", contract: contracts.editions, tokenId: 9n };
  const priceWei = 1_000_000_007n;
  let chain: { anvil: Anvil; client: DevnetClient };
  let actors: Actors;

  beforeAll(async () => {
    chain = await openChain(33139);
    const { client } = chain;
    const random = seededRandom(1);
    actors = createActors({ chainId: 33139, client, random, sending: sendAsMined(client) });
    await actors.alice.approves(contracts.punks);
    await actors.alice.approves(contracts.editions);
  });
  afterAll(() => chain.anvil.stop());

  const readStatus = ({ components }: SignedOrder) =>
    chain.client.readContract({
      address: seaportAddresses["1.6"],
      abi: seaportFunctions,
      functionName: "getOrderStatus",
      args: [orderHash(components)],
    });

  it("signs orders whose hash is the exchange's own", async () => {
    const order = await actors.alice.lists(punk, { priceWei });

    expect(orderHash(order.components)).toBe(
      await chain.client.readContract({
        address: seaportAddresses["1.6"],
        abi: seaportFunctions,
        functionName: "getOrderHash",
        args: [order.components],
      }),
    );
  });

  it("fills part of an ERC-1155 listing in several fills", async () => {
    await actors.alice.mints(edition, 20n);
    const order = await actors.alice.lists(edition, { priceWei, quantity: 20n });

    await actors.bob.buys(order, { units: 3n });
    await actors.carol.buys(order, { units: 10n });

    const [, , filled, size] = await readStatus(order);
    expect(filled * 20n).toBe(13n * size);
    await actors.dave.buys(order);
    expect(await readUnits(chain.client, actors.dave.address, edition.tokenId)).toBe(7n);
  });

  it("pays the seller into a collection bid exactly the price less fee and royalty", async () => {
    const quantity = 3n;
    await actors.alice.mints(edition, 2n);
    await actors.bob.wraps(priceWei * quantity);
    await actors.bob.allows(priceWei * quantity);
    const { standard, contract, tokenId } = edition;
    const bid = await actors.bob.offersForCollection({ standard, contract, priceWei, quantity });

    await actors.alice.acceptsForCollection(bid, { tokenId, units: 2n });

    const netWei = priceWei - priceWei / 100n - priceWei / 20n;
    expect(await wrappedBalance(chain.client, 33139, actors.alice.address)).toBe(2n * netWei);
  });

  it("reverts the fill of a cancelled listing with sender, contract and selector in the error", async () => {
    await actors.alice.mints(punk);
    const order = await actors.alice.lists(punk, { priceWei });
    await actors.alice.cancels(order);

    await expect(actors.bob.buys(order)).rejects.toThrow(
      `${actors.bob.address} called ${seaportAddresses["1.6"]} (0xe7acab24) on chain 33139 and was reverted`,
    );
  });
});

describe("runTrading", () => {
  it("continues after failed scenarios", async () => {
    const { anvil, client } = await openSeeded(1, 7);
    const address = seaportAddresses["1.6"];
    const exchange = await client.getCode({ address });
    const history = (await readFills(client)).length;
    const stopping = new AbortController();
    await client.setCode({ address, bytecode: "0x" });
    let failures = 0;
    const trading = runTrading(client, {
      chainId: 1,
      everyMs: 5,
      signal: stopping.signal,
      onFailure: () => {
        failures++;
      },
    });

    await expect.poll(() => failures, { timeout: 120_000 }).toBeGreaterThan(1);
    await client.setCode({ address, bytecode: exchange ?? "0x" });
    await expect
      .poll(async () => (await readFills(client)).length, { timeout: 120_000 })
      .toBeGreaterThan(history);

    stopping.abort();
    await trading;
    await anvil.stop();
  });
});

function wrappedBalance(client: DevnetClient, chainId: ChainId, owner: Address): Promise<bigint> {
  return client.readContract({
    address: wrappedNative[chainId],
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [owner],
  });
}

function readUnits(client: DevnetClient, owner: Address, tokenId: bigint): Promise<bigint> {
  return client.readContract({
    address: contracts.editions,
    abi: erc1155Abi,
    functionName: "balanceOf",
    args: [owner, tokenId],
  });
}
