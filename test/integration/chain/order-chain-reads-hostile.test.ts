import { type Address, type Hex, numberToHex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { contracts } from "#devnet/contracts/addresses.ts";
import type { ChainQuery } from "#jobs/chain/chain-query.ts";
import { type ChainClient, openChainClient } from "#jobs/chain/client.ts";
import { queryChain } from "#jobs/chain/query-chain.ts";
import { type Market, openMarket } from "#test/support/chain/market.ts";
import { type RpcProxy, startRpcProxy } from "#test/support/chain/rpc-proxy.ts";

/** What a contract may do instead of answering. */
const hostile = {
  reverting: "0x60006000fd",
  revertingWithWords: "0x63deadbeef6000526004601cfd",
  invalid: "0xfe",
  silent: "0x00",
  short: "0x60056000f3",
  allOnes: "0x60001960005260406000f3",
  looping: "0x5b600056",
  swelling: "0x620800006000f3",
} satisfies Record<string, Hex>;

let market: Market;
let proxy: RpcProxy;
let chain: ChainClient;
let alice: Address;

const addresses = Object.keys(hostile).map((_, index) =>
  numberToHex(0xbad_0000 + index, { size: 20 }),
);

beforeAll(async () => {
  market = await openMarket({ chainId: 1, stocked: true });
  proxy = await startRpcProxy(market.anvil.rpcUrl);
  alice = market.actors.alice.address.toLowerCase() as Address;
  for (const [index, bytecode] of Object.values(hostile).entries()) {
    await market.client.setCode({ address: addresses[index] ?? alice, bytecode });
  }
});
afterAll(async () => {
  await proxy.close();
  await market.stop();
});
beforeEach(() => {
  // One that does not know yet which contracts are costly.
  chain = openChainClient({ chainId: 1, rpcUrls: [proxy.url] });
  proxy.requests = 0;
});

const looping = () => addresses[Object.keys(hostile).indexOf("looping")] ?? alice;

const aboutToken = (contract: Address, tokenId: bigint): ChainQuery[] => [
  { kind: "standard", contract },
  { kind: "approval_read", contract, owner: alice },
  { kind: "owner_read", contract, tokenId },
  { kind: "units_read", contract, tokenId, owner: alice },
  { kind: "transfer_read", contract, tokenId, owner: alice, standard: "erc721" },
  { kind: "transfer_read", contract, tokenId, owner: alice, standard: "erc1155" },
  { kind: "royalty", contract, tokenId, salePriceWei: 1_000n },
];

describe("askChain among hostile contracts", () => {
  it("answers about the others as if they were alone", async () => {
    const honest = [...aboutToken(contracts.punks, 1n), ...aboutToken(contracts.editions, 1n)];
    const alone = await queryChain(chain, honest);
    const company = addresses.flatMap((contract) => aboutToken(contract, 1n));

    const answers = await queryChain(chain, [...company, ...honest, ...company]);

    expect(alone.readings).toHaveLength(8);
    for (const question of honest) expect(answers.find(question)).toEqual(alone.find(question));
  });

  it("hears neither owners nor approvals nor royalties from them, and no transfer that is allowed", async () => {
    const company = addresses.flatMap((contract) => aboutToken(contract, 1n));

    const answers = await queryChain(chain, company);

    // Nothing is known of one that uses up all gas, however much.
    const answering = addresses.filter((one) => one !== looping());
    for (const contract of answering) {
      const question = { contract, tokenId: 1n } as const;
      expect(answers.find({ kind: "standard", contract })).toMatchObject({ standard: null });
      expect(answers.find({ kind: "approval_read", contract, owner: alice })).toMatchObject({
        approved: false,
      });
      expect(answers.find({ kind: "owner_read", ...question })).toMatchObject({ owner: null });
      expect(answers.find({ kind: "royalty", ...question, salePriceWei: 1_000n })).toMatchObject({
        royalty: null,
      });
    }
    expect(answers.readings.filter(({ kind }) => kind === "transfer_read")).toEqual([]);
    expect(
      answers.readings.filter((one) => "contract" in one && one.contract === looping()),
    ).toEqual([]);
    expect(answers.find({ kind: "standard", contract: looping() })).toBeUndefined();
  });

  it("reads answers that are too large for one request in several", async () => {
    const swelling = addresses.at(-1) ?? alice;
    const questions = Array.from({ length: 30 }, (_, index): ChainQuery[] => [
      { kind: "owner_read", contract: swelling, tokenId: BigInt(index) },
      { kind: "owner_read", contract: contracts.punks, tokenId: BigInt(index + 1) },
    ]).flat();

    const { readings } = await queryChain(chain, questions);

    expect(readings).toHaveLength(60);
    expect(readings.filter((one) => "owner" in one && one.owner !== null)).toHaveLength(30);
  });

  it("takes a wallet that burns all gas for one that refuses the signature", async () => {
    const nft = { standard: "erc721", contract: contracts.punks, tokenId: 1n } as const;
    const order = await market.actors.alice.lists(nft, { priceWei: 1_000n });
    const components = { ...order.components, offerer: looping() };
    const question = {
      kind: "signature_read",
      orderHash: `0x${"ab".repeat(32)}`,
      maker: looping(),
      order: { ...order, components },
    } as const;

    expect((await queryChain(chain, [question])).find(question)).toMatchObject({ valid: false });
  });
});
