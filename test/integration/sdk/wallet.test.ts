import { afterAll, beforeAll } from "vitest";
import {
  openTestChains,
  type TestChain,
  type TestChains,
} from "../../support/orders/test-chains.ts";
import { describeAlteredAnswers } from "./altered.ts";
import { describeInterruptions } from "./interruptions.ts";
import { describeRecipes } from "./recipes.ts";
import { describeTrading } from "./trading.ts";

const chainId = 33139;
let testChains: TestChains;

beforeAll(async () => {
  testChains = await openTestChains([chainId]);
});
afterAll(() => testChains?.close());

const openChain = (): TestChain => testChains.chain(chainId);

// One service for all of them.
describeTrading(openChain);
describeInterruptions(openChain);
describeAlteredAnswers(openChain);
describeRecipes(openChain);
