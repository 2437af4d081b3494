import type { AbiEvent } from "viem";
import { blendEvents, blurV1Events, blurV2Events, blur as contracts } from "#abis/blur.ts";
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
    source("Blur", blurV1Events, ({ exchanges }) => exchanges.blur?.Blur ?? null),
    source("BlurV2", blurV2Events, ({ exchanges }) => exchanges.blur?.BlurV2 ?? null),
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
  sources: [source("Blend", blendEvents, ({ exchanges }) => exchanges.blend?.Blend ?? null)],
  tradesOf: tradesOfBlend,
};

function source(
  name: string,
  events: readonly AbiEvent[],
  deployed: ExchangeSource["deployed"],
): ExchangeSource {
  const trades = events.map((event) => event.name).filter((event) => !cancels.includes(event));
  return {
    name,
    events,
    eventsWithCall: trades,
    eventsWithTransfers: trades,
    deployed,
  };
}

function ofContract(
  transaction: ExchangeTransaction,
  address: ExchangeTransaction["facts"][number]["contract"],
): ExchangeTransaction {
  const facts = transaction.facts.filter(({ contract }) => contract === address);
  return { ...transaction, facts };
}
