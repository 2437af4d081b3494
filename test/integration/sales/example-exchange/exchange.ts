import type { Address } from "viem";
import { apechain } from "#chains/apechain.ts";
import type {
  Exchange,
  ExchangeEvent,
  ExchangeFact,
  Trade,
} from "#projections/exchanges/model/exchange.ts";
import { bazaarEvents } from "./abi.ts";

export const bazaarAddress: Address = "0xba2aa20000000000000000000000000000000001";
export const bazaarFees: Address = "0xba2aa20000000000000000000000000000000002";

/** A made-up exchange: every sale is one event, and it keeps a fee. */
export const bazaar: Exchange = {
  protocol: "bazaar",
  marketplace: "bazaar",
  sources: [
    {
      name: "Bazaar",
      events: [...bazaarEvents],
      eventsWithCall: ["Sold"],
      deployed: ({ id }) =>
        id === apechain.id ? { addresses: [bazaarAddress], firstBlock: 7 } : null,
    },
  ],
  tradesOf: ({ facts }) => facts.map(tradeOf),
};

type Sold = {
  seller: Address;
  buyer: Address;
  collection: Address;
  tokenId: string;
  price: string;
  fee: string;
};

function tradeOf({ contract, logIndex, payload }: ExchangeFact): Trade {
  const { seller, buyer, collection, tokenId, price, fee } = (payload as ExchangeEvent)
    .args as Sold;
  return {
    items: [{ contract: collection, tokenId, units: 1n, seller, buyer }],
    currency: "0x0000000000000000000000000000000000000000",
    totalWei: BigInt(price),
    fees: [{ recipient: bazaarFees, wei: BigInt(fee) }],
    side: "ask",
    exchange: contract,
    protocolVersion: "1",
    orderHash: null,
    logIndex,
    zones: [],
  };
}
