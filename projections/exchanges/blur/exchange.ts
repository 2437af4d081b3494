import type { AbiEvent } from "viem";
import { blendEvents, blurV1Events, blurV2Events, blur as contracts } from "../../../abis/blur.ts";
import type { Exchange, ExchangeSource, ExchangeTransaction } from "../model/exchange.ts";
import { tradesOfBlend } from "./blend.ts";
import { selectSimpleSales } from "./simple-sales.ts";
import { tradesOfV1 } from "./v1.ts";
import { tradesOfV2 } from "./v2.ts";

/** Events that announce no trade. */
const cancels = ["OrderCancelled", "NonceIncremented"];

export const blur: Exchange = {
  protocol: "blur",
  marketplace: "blur",
  sources: [
    source("Blur", contracts.v1, 15_700_000, blurV1Events),
    source("BlurV2", contracts.v2, 17_600_000, blurV2Events),
  ],
  tradesOf: (transaction) => [
    ...tradesOfV1(ofContract(transaction, contracts.v1)),
    ...tradesOfV2(ofContract(transaction, contracts.v2)),
  ],
  selectSimpleSales,
};

export const blend: Exchange = {
  protocol: "blend",
  marketplace: "blur",
  sources: [source("Blend", contracts.blend, 17_150_000, blendEvents)],
  tradesOf: tradesOfBlend,
};

function source(
  name: string,
  address: (typeof contracts)[keyof typeof contracts],
  firstBlock: number,
  events: readonly AbiEvent[],
): ExchangeSource {
  const trades = events.map((event) => event.name).filter((event) => !cancels.includes(event));
  return {
    name,
    events,
    eventsWithCall: trades,
    eventsWithTransfers: trades,
    chains: { 1: { addresses: [address], firstBlock } },
  };
}

function ofContract(
  transaction: ExchangeTransaction,
  address: ExchangeTransaction["facts"][number]["contract"],
): ExchangeTransaction {
  const facts = transaction.facts.filter(({ contract }) => contract === address);
  return { ...transaction, facts };
}
