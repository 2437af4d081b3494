import { parseEther } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ChainId } from "#chains/index.ts";
import { getJson } from "#test/support/database/pipeline.ts";
import {
  mintPunk,
  openTestChains,
  orderRequest,
  type TestChain,
  type TestChains,
  untilDerived,
  untilStatus,
} from "#test/support/orders/test-chains.ts";
import { sepolia } from "./sepolia.ts";

/** Of the project that this runs in, which has the chain. */
const chainId = sepolia.id as number as ChainId;
let opened: TestChains;
let chain: TestChain;

beforeAll(async () => {
  opened = await openTestChains([chainId]);
  chain = opened.chain(chainId);
});
afterAll(() => opened?.close());

const read = (path: string) => getJson(chain.baseUrl, path);

it("a listing is signed, bought and sold, and shown with the chain's names", async () => {
  const nft = await mintPunk(chain, "alice");
  const [alice, bob] = [chain.trader("alice"), chain.trader("bob")];
  const askId = await alice.lists(orderRequest(nft, "1"));
  expect(await alice.statusOf("listings", askId)).toBe("active");
  const receipt = await bob.buys(askId);
  expect(receipt.status).toBe("success");
  await untilStatus(bob, "listings", askId, "filled");
  await untilDerived(chain);

  const { body } = await read(`/v1/sales?chainId=${chainId}&per_page=1`);
  expect(body.data).toMatchObject([
    {
      chainId,
      txHash: receipt.transactionHash,
      currency: { symbol: "ETH" },
      tokenId: `${nft.tokenId}`,
    },
  ]);
  const page = await fetch(`${chain.baseUrl}/?chainId=${chainId}`);
  expect([page.status, await page.text()]).toEqual([
    200,
    expect.stringContaining("NFTs on Sepolia"),
  ]);
});

it("a bid in the chain's wrapped coin is accepted", async () => {
  const nft = await mintPunk(chain, "carol");
  await chain.actors.bob.wraps(parseEther("3"));
  await chain.actors.bob.allows(parseEther("3"));
  const [bob, carol] = [chain.trader("bob"), chain.trader("carol")];
  const bidId = await bob.bids(orderRequest(nft, "3"));
  expect((await carol.accepts(bidId, nft.tokenId)).receipt.status).toBe("success");
  await untilStatus(bob, "bids", bidId, "filled");
  await untilDerived(chain);
  const { body } = await read(`/v1/sales?chainId=${chainId}&per_page=1`);
  expect(body.data).toMatchObject([
    { currency: { symbol: "WETH", address: sepolia.wrapped.address }, tokenId: `${nft.tokenId}` },
  ]);
});

it("documents and refusals name the chain", async () => {
  const { body } = await read("/v1/openapi.json");
  expect(JSON.stringify(body.info)).toContain("Sepolia (chain 11155111)");
  const { body: refusal } = await read("/v1/sales?chainId=5");
  expect(JSON.stringify(refusal)).toContain("must be one of 1, 33139, 11155111");
});
