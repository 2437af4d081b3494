import fc from "fast-check";
import { type Address, type Hex, keccak256, stringToHex } from "viem";
import { blurAddresses } from "#abis/blur.ts";
import { addressOf, block, type ChainEvent, zeroAddress } from "../database/given.ts";

const [apes, alice, bob, carol, house] = [1, 3, 4, 5, 6].map(addressOf) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
const storefront: Address = "0x495f947276749ce646f68ac8c248420045cb7b5e";
const opensea: Address = "0x0000a26b00c1f0df003000390027140000faa719";

const mostly = <Value>(usual: Value, ...others: readonly Value[]) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(usual, ...others) },
  );

/** A trade of Blur's first version, most of them alone in their transaction, which moves the one NFT. */
export const blurMatch = fc.record({
  transactionIndex: fc.nat(199),
  contract: mostly<Address>(blurAddresses.v1, blurAddresses.v2, alice),
  event: mostly("OrdersMatched", "OrderCancelled"),
  collection: mostly(apes, storefront),
  tokenId: fc.nat(3).map(String),
  amount: mostly("1", "3"),
  seller: mostly<Address>(alice, blurAddresses.blend),
  buyer: mostly<Address>(bob, alice, zeroAddress, blurAddresses.blend),
  sender: mostly<Address | null>(bob, carol, null),
  /** Only a trade in a coin may be a bid that was accepted. */
  paymentToken: fc.constantFrom<Address>(
    zeroAddress,
    zeroAddress,
    blurAddresses.pool,
    blurAddresses.pool,
    carol,
  ),
  price: mostly("3000", "0", "7", String(10n ** 27n), String(10n ** 27n + 1n)),
  listed: fc.tuple(fc.nat(2), fc.nat(2)),
  fees: fc.array(
    fc.record({
      rate: fc.constantFrom(0, 1, 50, 250, 1_000, 1_001, 9_000),
      recipient: fc.constantFrom(alice, carol, house, opensea),
    }),
    { maxLength: 3 },
  ),
  calldataTail: mostly<Hex | null>(null, "0x360c6ebe", "0x12345678"),
  standard: mostly("erc721", "erc1155"),
  moved: mostly(
    ...(["once", "with a coin", "on to another", "after", "to another", "twice"] as const),
    ...(["beside another", "not", "unknown"] as const),
  ),
});
type BlurMatch = typeof blurMatch extends fc.Arbitrary<infer Made> ? Made : never;

export function blurEventsOf(made: BlurMatch, nth: number): ChainEvent[] {
  const { transactionIndex, contract, event, sender, calldataTail } = made;
  const logIndex = 1_000 + nth * 10;
  const hash = (side: string) => keccak256(stringToHex(`${side} ${nth}`));
  const [sellTime, buyTime] = made.listed;
  const { collection, tokenId, amount, paymentToken, price, fees } = made;
  const order = { collection, tokenId, amount, paymentToken, price, fees };
  const args = {
    ...{ maker: made.seller, taker: made.buyer, sellHash: hash("sell"), buyHash: hash("buy") },
    sell: { ...order, trader: made.seller, listingTime: String(sellTime) },
    buy: { ...order, trader: made.buyer, listingTime: String(buyTime), fees: [] },
  };
  const transfers = transfersOf(made, logIndex);
  const payload = {
    ...{ source: "Blur", event, args, sender, target: contract, calldataTail },
    ...(transfers && { transfers }),
  };
  return [
    {
      ...{ kind: "exchange_event", block: block(1, 7 + (transactionIndex % 2)), transactionIndex },
      ...{ transactionHash: keccak256(stringToHex(`1 ${transactionIndex}`)), contract, logIndex },
      payload,
    },
  ];
}

function transfersOf(made: BlurMatch, logIndex: number) {
  const { collection, tokenId, amount, standard, seller, buyer, moved, price } = made;
  const token = { contract: collection, tokenId, amount, standard };
  const delivery = { ...token, logIndex: logIndex - 2, from: seller, to: buyer };
  const onward = { ...token, logIndex: logIndex + 1, from: buyer, to: carol };
  const coin = { standard: "erc20", contract: blurAddresses.pool, tokenId: null, amount: price };
  switch (moved) {
    case "once":
      return [delivery];
    case "with a coin":
      return [{ ...coin, logIndex: logIndex - 3, from: buyer, to: seller }, delivery];
    case "on to another":
      return [delivery, onward];
    case "after":
      return [{ ...delivery, logIndex: logIndex + 1 }];
    case "to another":
      return [{ ...delivery, to: carol }];
    case "twice":
      return [{ ...delivery, logIndex: logIndex - 3 }, delivery];
    case "beside another":
      return [{ ...delivery, tokenId: "77", logIndex: logIndex - 3 }, delivery];
    case "not":
      return [];
    case "unknown":
      return undefined;
  }
}
