import { afterAll, beforeAll } from "vitest";
import { openPartnerB } from "#devnet/marketplaces/magiceden/magiceden.ts";
import { openPartnerA } from "#devnet/marketplaces/opensea/opensea.ts";
import { openTestChains, type TestChains } from "../support/orders/test-chains.ts";
import { seedsOf } from "../support/thoroughness.ts";
import { testHostileContracts } from "./order-book/hostile-contracts.ts";
import { describePartners, type StandIns } from "./order-book/partners.ts";
import { describeSeaportJs } from "./order-book/seaport-js.ts";
import { describeTrades, testExpiry } from "./order-book/trades.ts";

const chainIds = [33139, 1] as const;
let opened: TestChains;
let standIns: StandIns;

/** One service for all of them: a start costs more than their trades. */
beforeAll(async () => {
  opened = await openTestChains(chainIds, async (chains) => {
    const [opensea, magiceden] = [await openPartnerA({ chains }), await openPartnerB({ chains })];
    standIns = { opensea, magiceden };
    return {
      PARTNER_A_URL: opensea.url,
      PARTNER_B_URL: magiceden.url,
      PARTNER_A_RATE_LIMIT: "6000",
      PARTNER_B_RATE_LIMIT: "6000",
      PARTNER_INTERVAL_SECONDS: "1",
    };
  });
});

afterAll(async () => {
  await opened?.close();
  await Promise.all([standIns?.opensea.close(), standIns?.magiceden.close()]);
});

const testChains = () => opened;
// One chain each with `npm test`.
describeTrades(testChains, seedsOf(chainIds));
describeSeaportJs(testChains, seedsOf(chainIds));
describePartners(testChains, () => standIns, seedsOf(chainIds.toReversed()));
testHostileContracts(testChains);
testExpiry(testChains);
