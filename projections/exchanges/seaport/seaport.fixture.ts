import { type Address, type Hex, keccak256, stringToHex, zeroAddress } from "viem";
import { seaportAddresses } from "#abis/deployments.ts";
import { wrappedNative } from "#chains/index.ts";
import { factKind } from "#projections/log/fact-kinds.ts";
import type { ExchangeFact, ExchangeTransaction } from "../model/exchange.ts";
import type { FulfilledOrder, OrderTransaction, ReceivedItem, SpentItem } from "./orders.ts";

const weth = wrappedNative[1];

export function nft(token: Address, identifier: string, units = 1n): SpentItem {
  return { itemType: units === 1n ? 2 : 3, token, identifier, amount: units.toString() };
}

export function native(wei: bigint): SpentItem {
  return { itemType: 0, token: zeroAddress, identifier: "0", amount: wei.toString() };
}

export function erc20(wei: bigint, token: Address = weth): SpentItem {
  return { itemType: 1, token, identifier: "0", amount: wei.toString() };
}

export function to(recipient: Address, item: SpentItem): ReceivedItem {
  return { ...item, recipient };
}

/** An `OrderFulfilled` of Seaport 1.6 without a zone, unless the order says otherwise. */
export function fulfilled(
  order: Pick<FulfilledOrder, "logIndex" | "offerer" | "recipient"> & Partial<FulfilledOrder>,
): FulfilledOrder {
  const version = order.version ?? "1.6";
  return {
    orderHash: keccak256(stringToHex(`order ${order.logIndex}`)),
    exchange: seaportAddresses[version],
    version,
    zone: zeroAddress,
    offer: [],
    consideration: [],
    ...order,
  };
}

export function transaction(
  orders: readonly FulfilledOrder[],
  rest: Partial<OrderTransaction> = {},
): OrderTransaction {
  const hash = keccak256(stringToHex("transaction"));
  return {
    chainId: 1,
    hash,
    sender: zeroAddress,
    calldataTail: null,
    orders,
    matches: [],
    ...rest,
  };
}

/** The facts of the log that hold a transaction's orders. */
export function factsOf({
  chainId,
  hash,
  sender,
  calldataTail,
  orders,
  matches,
}: OrderTransaction): ExchangeTransaction {
  const fulfilments = orders.map((order): ExchangeFact => {
    const { logIndex, orderHash, exchange, offerer, recipient, zone, offer, consideration } = order;
    const payload = { zone, offer, consideration, sender, calldataTail };
    return {
      ...{ logIndex, orderHash, payload, kind: factKind.order_fulfilled },
      ...{ contract: exchange, from: offerer, to: recipient },
    };
  });
  const matched = matches.map(({ logIndex, exchange, orderHashes }): ExchangeFact => {
    return {
      ...{ logIndex, orderHash: null, payload: { orderHashes }, kind: factKind.orders_matched },
      ...{ contract: exchange, from: null, to: null },
    };
  });
  const facts = [...fulfilments, ...matched].toSorted((a, b) => a.logIndex - b.logIndex);
  return { chainId, hash, facts, transfers: [] };
}

/** The `OrdersMatched` that follows orders. */
export function matchOf(orders: readonly FulfilledOrder[]) {
  const last = orders.at(-1);
  if (last === undefined) throw new Error("a match of no orders");
  const { exchange, logIndex } = last;
  return { exchange, logIndex: logIndex + 1, orderHashes: orders.map((order) => order.orderHash) };
}

const openSeaZone: Address = "0x004c00500000ad104d7dbd00e3ae0a5c00560c00";
const openSeaFees: Address = "0x8de9c5a032463c561423387a9648c5c7bcc5bc90";

type Recorded = {
  readonly transaction: OrderTransaction;
  /** According to the transaction's transfers and value. */
  readonly paidWei: bigint;
  readonly seller: Address;
  readonly buyer: Address;
  /** To each recipient that is not the seller. */
  readonly paidAway: Readonly<Record<Address, bigint>>;
};

const bundle: Recorded = {
  paidWei: 7_700_000_000_000_000n,
  seller: "0xbf0fe8d34fba7879c7f942104adc531bfb025528",
  buyer: "0xc60de9a5af8b0afcfee2f8117e0fc765e75b0039",
  paidAway: {
    [openSeaFees]: 192_500_000_000_000n,
    "0xe59d5fe969d2a5a5c4886bbe0d457e617db6eaf2": 385_000_000_000_000n,
  },
  transaction: recorded(
    "0xfb89ef8a64586266d17a3ba9b12d3b254d2cbcb26f12f1bf9698accc765354b8",
    "0xc60de9a5af8b0afcfee2f8117e0fc765e75b0039",
    fulfilled({
      version: "1.1",
      logIndex: 282,
      orderHash: "0x562e5558b517b1d717e2b92cc1e95d8dcfed1245cba29ff8325e15de9ee1b461",
      offerer: "0xbf0fe8d34fba7879c7f942104adc531bfb025528",
      recipient: "0xc60de9a5af8b0afcfee2f8117e0fc765e75b0039",
      zone: openSeaZone,
      offer: ["1750", "1749", "1748"].map((id) =>
        nft("0x980e7bd1448a547ac501510881367dd2c4c8dcb4", id),
      ),
      consideration: [
        to("0xbf0fe8d34fba7879c7f942104adc531bfb025528", native(7_122_500_000_000_000n)),
        to(openSeaFees, native(192_500_000_000_000n)),
        to("0xe59d5fe969d2a5a5c4886bbe0d457e617db6eaf2", native(385_000_000_000_000n)),
      ],
    }),
  ),
};

const bidFilledDirectly: Recorded = {
  paidWei: 500_000_000_000_000_000n,
  seller: "0xb02690b16fd8696ef13a63e3272404b3ea12d00e",
  buyer: "0x79c0781d4be72b94b608d40669cc5a7a58951a9e",
  paidAway: {
    [openSeaFees]: 12_500_000_000_000_000n,
    "0x8aaa571cd41e7283f43fe4ef9f8946b5c7c7ac95": 35_000_000_000_000_000n,
  },
  transaction: recorded(
    "0xa0f08609da95369bc2d99d66cadeecf813622190ee380cfebd189ab2aca50b39",
    "0xb02690b16fd8696ef13a63e3272404b3ea12d00e",
    fulfilled({
      version: "1.1",
      logIndex: 269,
      orderHash: "0xa211ad1ae6d7f0294f8be5e6e72a7c1d4578d2c818402f12ebfea6c37056a501",
      offerer: "0x79c0781d4be72b94b608d40669cc5a7a58951a9e",
      recipient: "0xb02690b16fd8696ef13a63e3272404b3ea12d00e",
      zone: openSeaZone,
      offer: [erc20(500_000_000_000_000_000n)],
      consideration: [
        to(
          "0x79c0781d4be72b94b608d40669cc5a7a58951a9e",
          nft("0x8b634b2ae70e338865bf9741b4ae935adf2b4c55", "329"),
        ),
        to(openSeaFees, erc20(12_500_000_000_000_000n)),
        to("0x8aaa571cd41e7283f43fe4ef9f8946b5c7c7ac95", erc20(35_000_000_000_000_000n)),
      ],
    }),
  ),
};

const punk = nft("0xc5c17c3d565169f6a968e33e7914bcd0e4894660", "3336");
const creator: Address = "0x78dd63e2e0a323b673deecdcf626840c49daf090";
const bidMatched: Recorded = {
  paidWei: 4_810_000_000_000_000n,
  seller: "0xf4d84b45ff06ff7436c19df882d218622808d187",
  buyer: "0x3abc06d098e021e2524a12271cf781112d56fb64",
  paidAway: { [creator]: 24_050_000_000_000n + 336_700_000_000_000n },
  transaction: recorded(
    "0xfb49e5aa3c7c24f2a9d7e9eb25966930d7f258b7a02278fced91b4a443cd68f0",
    "0xf4d84b45ff06ff7436c19df882d218622808d187",
    fulfilled({
      version: "1.4",
      logIndex: 203,
      orderHash: "0xca3325630e5af8fd17a4627a9e8fabdbecd16165ddb01fa193090da99dfcbb64",
      offerer: "0x3abc06d098e021e2524a12271cf781112d56fb64",
      recipient: "0xf4d84b45ff06ff7436c19df882d218622808d187",
      zone: openSeaZone,
      offer: [erc20(4_810_000_000_000_000n)],
      consideration: [
        to("0x3abc06d098e021e2524a12271cf781112d56fb64", punk),
        to(creator, erc20(24_050_000_000_000n)),
      ],
    }),
    fulfilled({
      version: "1.4",
      logIndex: 204,
      orderHash: "0xd24def0ea823e9bf9e4977585535865197eb61cde7050f98785ce146f5d9f867",
      offerer: "0xf4d84b45ff06ff7436c19df882d218622808d187",
      recipient: "0xf4d84b45ff06ff7436c19df882d218622808d187",
      offer: [punk],
      consideration: [
        to(creator, erc20(336_700_000_000_000n)),
        to("0xf4d84b45ff06ff7436c19df882d218622808d187", erc20(4_449_250_000_000_000n)),
      ],
    }),
  ),
};

const twoUnits: Recorded = {
  paidWei: 78_000_000_000_000_000n,
  seller: "0x89fd6391ded01589bcd6650643ea2513d26d7c03",
  buyer: "0x6885c0a837c320f47a66df243c49a4e605ceb1ab",
  paidAway: {
    "0x0000a26b00c1f0df003000390027140000faa719": 1_950_000_000_000_000n,
    "0xf5185eb980e1a2e54c7052c069c60dcf0e784887": 3_900_000_000_000_000n,
  },
  transaction: recorded(
    "0xc81e97cc1d4d19fd799b15168c502efe77199ad0e7c813171a55200ebd072500",
    "0x6885c0a837c320f47a66df243c49a4e605ceb1ab",
    fulfilled({
      version: "1.5",
      logIndex: 187,
      orderHash: "0xd31aaea187a9a799dafc94a60bc80de4251c46f98fbe34384da595b945165d5e",
      offerer: "0x89fd6391ded01589bcd6650643ea2513d26d7c03",
      recipient: "0x6885c0a837c320f47a66df243c49a4e605ceb1ab",
      zone: openSeaZone,
      offer: [nft("0x71ce294ab5e26b3ae8d46d410e795c5265004130", "1", 2n)],
      consideration: [
        to("0x89fd6391ded01589bcd6650643ea2513d26d7c03", native(72_150_000_000_000_000n)),
        to("0x0000a26b00c1f0df003000390027140000faa719", native(1_950_000_000_000_000n)),
        to("0xf5185eb980e1a2e54c7052c069c60dcf0e784887", native(3_900_000_000_000_000n)),
      ],
    }),
  ),
};

/** Trades of Ethereum mainnet. */
export const recordedTrades = { bundle, bidFilledDirectly, bidMatched, twoUnits };

function recorded(hash: Hex, sender: Address, ...orders: FulfilledOrder[]): OrderTransaction {
  return transaction(orders, { hash, sender });
}
