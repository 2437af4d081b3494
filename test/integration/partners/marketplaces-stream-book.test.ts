import { sql } from "kysely";
import { pino } from "pino";
import { parseEther } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { partnerStream } from "#jobs/partners/stream-partners.ts";
import { runJobs } from "#jobs/runner/run-jobs.ts";
import { until } from "#test/support/database/pipeline.ts";
import {
  openPartnerOrderBook,
  type PartnerOrderBook,
} from "#test/support/orders/partner-order-book-fixture.ts";

const chainId = 1;
const farMs = 3_600_000;
const ending = new AbortController();
let book: PartnerOrderBook;
let hearing: Promise<void>;

beforeAll(async () => {
  book = await openPartnerOrderBook(chainId);
  const partner = book.adapters.find(({ name }) => name === "opensea");
  if (partner === undefined) throw new Error("the book has no such partner");
  const contract = Buffer.from(contracts.punks.slice(2), "hex");
  const far = new Date(Date.now() + farMs);
  await sql`
    insert into ops.partner_collection (marketplace, chain_id, contract, slug, due_at)
    values ('opensea', ${chainId}, ${contract}, 'punks', ${far})`.execute(book.db);
  const logger = pino({ level: "silent" });
  const jobs = partnerStream({
    ...{ db: book.db, partner, chainIds: [chainId], now: () => new Date() },
    onSkipped: () => {},
    logger,
  });
  hearing = runJobs(jobs, { logger, signal: ending.signal });
  await until("its topic", async () => book.opensea.topics().length === 1);
});
afterAll(async () => {
  ending.abort();
  await hearing;
  await book?.close();
});

it("shows a listing in GET /v1/listings that was placed at the partner, and hides it once it is cancelled there", async () => {
  const nft = { standard: "erc721", contract: contracts.punks, tokenId: 9_001n } as const;
  await book.actors.alice.mints(nft);
  await book.actors.alice.approves(contracts.punks);
  await book.catchUp();
  const listed = async () => {
    await book.catchUp();
    const { data } = await book.get("/v1/listings?chainId=1&marketplace=opensea");
    return data as { orderHash: string }[];
  };
  const { orderHash } = await book.opensea.sell({
    ...{ chainId, maker: accounts.alice, nft, priceWei: parseEther("1") },
  });
  await until("the row", async () => (await listed()).length === 1);
  expect(await listed()).toMatchObject([{ askId: orderHash, marketplace: "opensea" }]);

  book.opensea.withdraw(chainId, orderHash);
  await until("no row", async () => (await listed()).length === 0);
});
