import { once } from "node:events";
import { afterEach, beforeEach, expect, it } from "vitest";
import { WebSocket } from "ws";
import { openHeadRelay } from "../../../api/run/indexer/head-relay.ts";
import { type Anvil, startAnvil } from "../../../devnet/anvil.ts";
import { connect, type DevnetClient } from "../../../devnet/client.ts";

const key = "key-of-the-provider";
const subscribe = {
  jsonrpc: "2.0",
  id: 1,
  method: "eth_subscribe",
  params: ["newHeads"],
};

let anvil: Anvil;
let chain: DevnetClient;
let ending: AbortController;
let url: string;
beforeEach(async () => {
  anvil = await startAnvil({ chainId: 1 });
  chain = connect(anvil);
  ending = new AbortController();
  url = await openHeadRelay(`${anvil.wsUrl}/?key=${key}`, ending.signal);
});
afterEach(async () => {
  ending.abort();
  await anvil?.stop();
});

type Head = { number: string; hash: string; parentHash: string; transactions?: unknown };
type Message = { id?: number; result?: unknown; params?: { subscription: string; result: Head } };

/** A subscriber as Ponder is one. */
async function open(to = url) {
  const socket = new WebSocket(to);
  const messages: Message[] = [];
  socket.on("message", (data) => messages.push(JSON.parse(`${data}`)));
  await once(socket, "open");
  const heads = () => messages.flatMap(({ params }) => params?.result ?? []);
  return { socket, messages, heads, send: (body: object) => socket.send(JSON.stringify(body)) };
}

const refusalOf = async (to: string) => {
  const [error] = await once(new WebSocket(to), "error");
  return (error as Error).message;
};

it("tells of the newest block as soon as somebody subscribes, as a header of that subscription", async () => {
  await chain.mine({ blocks: 3 });
  const { hash, parentHash } = await chain.getBlock();
  const ponder = await open();
  ponder.send(subscribe);
  await expect.poll(() => ponder.heads()[0]).toMatchObject({ number: "0x3", hash, parentHash });
  expect(ponder.heads()[0]).not.toHaveProperty("transactions");
  const [answer, told] = ponder.messages;
  expect(answer).toEqual({ jsonrpc: "2.0", id: 1, result: told?.params?.subscription });
});

it("passes on each block once it is mined, and repeats the newest alone", async () => {
  const ponder = await open();
  ponder.send(subscribe);
  await expect.poll(() => ponder.heads().length).toBeGreaterThan(0);
  await chain.mine({ blocks: 1 });
  await chain.mine({ blocks: 1 });
  const { hash } = await chain.getBlock();
  const ofNewest = () => ponder.heads().filter((head) => head.hash === hash);
  await expect.poll(() => ofNewest().length).toBeGreaterThan(2);
  const numbers = ponder.heads().map((head) => Number(head.number));
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(new Set(numbers)).toEqual(new Set([0, 1, 2]));
});

it("passes other requests and their answers on unchanged", async () => {
  const ponder = await open();
  ponder.send({ jsonrpc: "2.0", id: 7, method: "eth_chainId", params: [] });
  await expect.poll(() => ponder.messages).toEqual([{ jsonrpc: "2.0", id: 7, result: "0x1" }]);
});

it("ends a connection with the chain's, and refuses further ones while the chain is away", async () => {
  const ponder = await open();
  const closed = once(ponder.socket, "close");
  await anvil.stop();
  await closed;
  expect(await refusalOf(url)).toBe("Unexpected server response: 502");
});

it("has an address that cannot be guessed and does not tell the chain's key", async () => {
  expect(url).not.toContain(key);
  expect(await refusalOf(`${url}0`)).toBe("Unexpected server response: 404");
  expect(await refusalOf(new URL("/", url).href)).toBe("Unexpected server response: 404");
});

it("ends with its signal", async () => {
  const ponder = await open();
  const closed = once(ponder.socket, "close");
  ending.abort();
  await closed;
  expect(await refusalOf(url)).toContain("ECONNREFUSED");
});
