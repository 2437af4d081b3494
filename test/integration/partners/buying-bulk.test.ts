import { parseEther } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { accounts } from "#devnet/accounts.ts";
import { contracts } from "#devnet/contracts/addresses.ts";
import { interactive } from "#jobs/partners/transport.ts";
import { readConfig } from "#ops/config/read-config.ts";
import {
  openPartnerOrderBook,
  type PartnerOrderBook,
} from "#test/support/orders/partner-order-book-fixture.ts";

/** The largest number of listings of one call, by the document. */
const count = 20;
const firstTokenId = 5_001n;
const buyer = accounts.carol.address.toLowerCase();

let book: PartnerOrderBook;
let askIds: string[];
beforeAll(async () => {
  // The service's own limits.
  const { requestsPerMinute = 0 } =
    readConfig({ PARTNER_A_URL: "http://127.0.0.1:1" }).partners.opensea ?? {};
  book = await openPartnerOrderBook(1, { asked: { requestsPerMinute, timeouts: interactive } });
  askIds = [];
  for (let index = 0; index < count; index += 1) {
    const tokenId = firstTokenId + BigInt(index);
    const nft = { standard: "erc721", contract: contracts.punks, tokenId } as const;
    await book.actors.alice.mints(nft);
    const sale = { maker: accounts.alice, nft, priceWei: parseEther("1") };
    askIds.push((await book.shows(book.opensea, sale)).askId);
  }
});
afterAll(() => book?.close());
afterEach(() => book.opensea.heal());

const Bulk = z.object({
  listings: z.array(z.object({ askId: z.string(), priceWei: z.string() })),
  errors: z.array(
    z.object({ askId: z.string(), code: z.string(), retryAfterSeconds: z.number().optional() }),
  ),
});

async function buysAll() {
  const answer = await book.post("/v1/listings/buy-data-bulk", { askIds, buyer });
  expect(answer.status).toBe(200);
  return Bulk.parse(answer.data);
}

describe("twenty listings of partner_a in one call", () => {
  it("are all answered, also by a partner that takes almost two seconds for each", async () => {
    book.opensea.fail({ slowMs: 1_800 });
    const { listings, errors } = await buysAll();
    expect(errors).toEqual([]);
    expect(listings.map(({ askId }) => askId)).toEqual(askIds);
  });

  it("say of each that our own limit left out when it can be asked for again", async () => {
    const { listings, errors } = await buysAll();
    expect(listings.length + errors.length).toBe(count);
    expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(["partner_rate_limited"]));
    for (const { retryAfterSeconds = 0 } of errors) expect(retryAfterSeconds).toBeGreaterThan(0);

    const [left] = errors;
    const path = `/v1/listings/${left?.askId}/buy-data`;
    let answer = await book.api.post(path, { buyer });
    while (answer.status === 503) {
      expect(answer.body).toMatchObject({ code: "partner_rate_limited" });
      const seconds = Number(answer.headers.get("retry-after"));
      expect(seconds).toBeGreaterThan(0);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
      answer = await book.api.post(path, { buyer });
    }
    expect(answer.status).toBe(200);
  });

  it("are another error where the partner does not answer", async () => {
    book.opensea.fail({ down: "refusing" });
    const { errors } = await buysAll();
    const unanswered = errors.filter(({ code }) => code === "upstream_error");
    expect(unanswered.length).toBeGreaterThan(0);
    for (const error of unanswered) expect(error).not.toHaveProperty("retryAfterSeconds");
  });

  it("are left out for as long as the partner wants, when it limits us", async () => {
    book.opensea.fail({ limited: { retryAfterSeconds: 300 } });
    // It may be left alone for a moment, as it did not answer before.
    const codes = async () => [...new Set((await buysAll()).errors.map(({ code }) => code))];
    await expect.poll(codes, { timeout: 60_000 }).toEqual(["partner_rate_limited"]);
    const { errors } = await buysAll();
    expect(errors).toHaveLength(count);
    for (const { code, retryAfterSeconds = 0 } of errors) {
      expect(code).toBe("partner_rate_limited");
      expect(retryAfterSeconds).toBeGreaterThan(200);
    }
  });
});
