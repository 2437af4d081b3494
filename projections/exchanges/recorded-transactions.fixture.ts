import { readFileSync } from "node:fs";
import {
  type Abi,
  type AbiEvent,
  type Address,
  decodeEventLog,
  getAbiItem,
  type Hex,
  toEventSelector,
  zeroAddress,
} from "viem";
import { erc721Abi, erc1155Abi, wrappedNativeAbi } from "#abis/tokens.ts";
import { ethereum } from "#chains/ethereum.ts";
import { serializeBigints } from "../log/append.ts";
import { factKind } from "../log/fact-kinds.ts";
import { isOfCryptopunks, punkTransfer } from "./cryptopunks/cryptopunks.ts";
import { exchanges } from "./exchanges.ts";
import {
  type ExchangeEvent,
  type ExchangeFact,
  type ExchangeTransaction,
  exchangeTransaction,
  nativeTransferLogs,
  type TokenTransfer,
} from "./model/exchange.ts";
import { type TranslatedSale, translateTransaction } from "./translate-sales.ts";

type Log = { address: Address; topics: Hex[]; data: Hex; logIndex: number };

/** A sale of a recorded transaction, checked by hand against its transfers and payments. */
type RecordedSale = {
  exchange: string;
  version: string;
  logIndex: number;
  side: string;
  sideAccepted?: string[];
  contract: Address;
  tokenId: string;
  quantity: string;
  totalWei: string;
  totalWeiAccepted?: string[];
  /** Null: no log tells. */
  sellerNetWei: string | null;
  currency: Address;
  currencyAccepted?: Address[];
  seller: Address;
  buyer: Address;
  passedThrough: Address[];
  orderHash: Hex | null;
};

/** A transaction of Ethereum with all its logs, and the sales that it contains. */
export type RecordedTransaction = {
  teaches: string;
  hash: Hex;
  block: number;
  from: Address;
  to: Address | null;
  logs: Log[];
  sales: RecordedSale[];
};

/** Those of the file beside an exchange's decoder. */
export function recordedTransactions(folder: string): RecordedTransaction[] {
  const file = new URL(`${folder}/recorded-transactions.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8"));
}

/** The facts of a transaction's logs, as the recorder makes them. */
export function transactionOf(recorded: RecordedTransaction): ExchangeTransaction {
  const { hash, from, to } = recorded;
  const logs = recorded.logs.filter(({ address }) => address !== nativeTransferLogs);
  const transfers = logs.flatMap((log, index) => transfersOf(log, logs, index));
  const facts = logs.flatMap((log) => factOf(log, { from, to }, transfers));
  return exchangeTransaction(1, hash, facts);
}

const sources = exchanges.flatMap((exchange) => exchange.sources);

function factOf(
  log: Log,
  { from, to }: { from: Address; to: Address | null },
  transfers: readonly TokenTransfer[],
): ExchangeFact[] {
  return sources.flatMap(({ name: source, events, eventsWithTransfers = [], deployed }) => {
    const deployment = deployed(ethereum);
    const addresses = deployment === null ? [] : deployment.addresses;
    const isSource = addresses?.includes(log.address) ?? true;
    const event = isSource ? eventOf(events, log) : undefined;
    if (event === undefined) return [];
    const payload: ExchangeEvent = {
      ...{ source, event: event.name, args: argumentsOf(event, log) },
      ...{ sender: from, target: to, calldataTail: null },
      ...(eventsWithTransfers.includes(event.name) ? { transfers } : {}),
    };
    const { address: contract, logIndex } = log;
    const nothing = { from: null, to: null, orderHash: null };
    return [{ ...nothing, kind: factKind.exchange_event, contract, logIndex, payload }];
  });
}

function eventOf(events: readonly AbiEvent[], { topics }: Log): AbiEvent | undefined {
  return events.find((event) => {
    const indexed = event.inputs.filter((input) => input.indexed).length;
    return toEventSelector(event) === topics[0] && topics.length === indexed + 1;
  });
}

function argumentsOf(event: AbiEvent, { topics, data }: Log): ExchangeEvent["args"] {
  const { args } = decodeEventLog({ abi: [event], topics: topics as [Hex, ...Hex[]], data });
  const text = JSON.stringify(serializeBigints(args ?? {}));
  return JSON.parse(text.replace(/"0x[0-9a-fA-F]*"/g, (hex) => hex.toLowerCase()));
}

const [erc721, erc1155, erc20] = [
  eventIn(erc721Abi, "Transfer"),
  eventIn(erc1155Abi, "TransferSingle"),
  eventIn(wrappedNativeAbi, "Transfer"),
];

function eventIn(abi: Abi, name: string): AbiEvent {
  return getAbiItem({ abi, name }) as AbiEvent;
}

type Movement = Record<"from" | "to" | "src" | "dst", Address> &
  Record<"tokenId" | "id" | "value" | "wad", string>;

/** The transfer that a log is, as it is read from a receipt. */
function transfersOf(log: Log, logs: readonly Log[], index: number): TokenTransfer[] {
  const at = { logIndex: log.logIndex, contract: log.address };
  if (isOfCryptopunks(log))
    return [punkTransfer(logs, index) ?? []].flat().map((one) => ({ ...at, ...one }));
  const event = eventOf([erc721, erc1155, erc20], log);
  if (event === undefined) return [];
  const args = argumentsOf(event, log) as Movement;
  const { from, to, src, dst, tokenId, id, value, wad } = args;
  if (event === erc20) {
    return [{ ...at, standard: "erc20", from: src, to: dst, tokenId: null, amount: wad }];
  }
  return event === erc721
    ? [{ ...at, standard: "erc721", from, to, tokenId, amount: "1" }]
    : [{ ...at, standard: "erc1155", from, to, tokenId: id, amount: value }];
}

/** A sale in the fields of a recorded one. */
function rowOf(sale: TranslatedSale) {
  const { protocol: exchange, protocolVersion: version, logIndex, side, contract, tokenId } = sale;
  return {
    ...{ exchange, version, logIndex, side, contract, tokenId },
    quantity: sale.quantity.toString(),
    totalWei: sale.totalWei.toString(),
    ...{ currency: sale.currency, seller: sale.seller, buyer: sale.buyer, via: sale.via },
    orderHash: sale.orderHash,
    netWei: sale.fees.reduce((rest, { wei }) => rest - wei, sale.totalWei).toString(),
  };
}

type SaleRow = ReturnType<typeof rowOf>;

/** The rows that a transaction's sales are expected to be, given those that they are. */
export function expectedRows({ sales }: RecordedTransaction, rows: readonly SaleRow[]) {
  return sales.map((sale, index) => expectedRow(sale, rows[index]));
}

/** Of what is open, what was translated where that is accepted. */
function expectedRow(recorded: RecordedSale, sale: SaleRow | undefined) {
  const { sideAccepted, currencyAccepted, totalWeiAccepted, passedThrough, sellerNetWei, ...row } =
    recorded;
  const accepted = <Value>(values: readonly Value[] | undefined, found: Value | undefined) =>
    found !== undefined && values?.includes(found) ? found : undefined;
  return {
    ...row,
    side: accepted(sideAccepted, sale?.side) ?? row.side,
    currency: accepted(currencyAccepted, sale?.currency) ?? row.currency,
    totalWei: accepted(totalWeiAccepted, sale?.totalWei) ?? row.totalWei,
    via: passedThrough[0] ?? null,
    netWei: sellerNetWei ?? sale?.netWei,
  };
}

/** The contract of a made-up event that any may emit. */
export const pool: Address = `0x${"9".repeat(40)}`;

/** An event of a made-up transaction; arguments as the log stores them. */
type GivenEvent = Pick<ExchangeEvent, "event" | "args" | "bid" | "factory" | "coin"> & {
  logIndex: number;
};

/** A transaction of one source's events, whose contract the sender calls. A transfer delivers each sale. */
export function givenTransaction(
  source: string,
  events: readonly GivenEvent[],
  { sender = zeroAddress, transfers = [] }: { sender?: Address; transfers?: TokenTransfer[] } = {},
): ExchangeTransaction {
  const deployment = sources.find(({ name }) => name === source)?.deployed(ethereum);
  const contract = deployment?.addresses === null ? pool : deployment?.addresses[0];
  if (contract === undefined) throw new Error(`no source ${source}`);
  const facts = events.map(({ logIndex, ...event }): ExchangeFact => {
    const call = { sender, target: contract, calldataTail: null };
    const payload: ExchangeEvent = { source, ...event, ...call, transfers };
    const nothing = { from: null, to: null, orderHash: null };
    return { ...nothing, kind: factKind.exchange_event, contract, logIndex, payload };
  });
  return exchangeTransaction(1, `0x${"7".repeat(64)}`, facts);
}

/** Its sales, in the fields of a recorded one, and its unresolved events. */
export function outcomeOf(transaction: ExchangeTransaction) {
  const { sales, unresolved } = translateTransaction(transaction, zeroAddress);
  return {
    sales: sales.map(rowOf),
    unresolved: unresolved.map(({ unresolved: reason }) => reason),
  };
}

/** A transfer of units of an NFT. */
export function moved(
  logIndex: number,
  { contract, tokenId }: { contract: Address; tokenId: string },
  [from, to]: readonly [Address, Address],
  amount = "1",
): TokenTransfer {
  const standard = amount === "1" ? "erc721" : "erc1155";
  return { logIndex, standard, contract, tokenId, from, to, amount };
}

/** A transfer of a coin. */
export function paid(
  logIndex: number,
  contract: Address,
  [from, to]: readonly [Address, Address],
  amount: string,
): TokenTransfer {
  return { logIndex, standard: "erc20", contract, tokenId: null, from, to, amount };
}

/** Made-up addresses. */
export function addresses(): [Address, Address, Address, Address, Address, Address] {
  const [a, b, c, d, e, f] = [1, 2, 3, 4, 5, 6].map(
    (digit): Address => `0x${`${digit}`.repeat(40)}`,
  );
  return [a, b, c, d, e, f] as [Address, Address, Address, Address, Address, Address];
}
