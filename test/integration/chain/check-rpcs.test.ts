import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { checkRpcs } from "../../../api/run/indexer/check-rpcs.ts";
import { type Anvil, startAnvil } from "../../../devnet/anvil.ts";

let anvil: Anvil;
let other: Anvil;
/** Accepts connections and never answers. */
let silent: Server;
/** Opens websockets and never answers. */
let mute: WebSocketServer;
beforeAll(async () => {
  [anvil, other] = await Promise.all([startAnvil({ chainId: 1 }), startAnvil({ chainId: 33139 })]);
  silent = createServer(() => {}).listen(0, "127.0.0.1");
  mute = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await Promise.all([once(silent, "listening"), once(mute, "listening")]);
});
afterAll(async () => {
  for (const client of mute?.clients ?? []) client.terminate();
  mute?.close();
  silent?.close();
  await Promise.all([anvil?.stop(), other?.stop()]);
});

const urlOf = (server: { address(): unknown }) =>
  `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function check(wsUrl: string) {
  const chain = { chainId: 1, rpcUrls: [anvil.rpcUrl], wsUrl };
  const { wsUrl: used, rpcUrls, faults } = await checkRpcs(chain as never);
  expect(rpcUrls).toEqual([anvil.rpcUrl]);
  return { used, faults: faults.length };
}

it("a websocket is used that serves the chain", async () => {
  expect(await check(anvil.wsUrl)).toEqual({ used: anvil.wsUrl, faults: 0 });
});

it("one that is down, accepts nothing, answers nothing or serves another chain is not, within seconds", async () => {
  const startedAt = performance.now();
  const gone = createServer().listen(0, "127.0.0.1");
  await once(gone, "listening");
  const down = urlOf(gone);
  gone.close();
  for (const wsUrl of [down, urlOf(silent), urlOf(mute), other.wsUrl])
    expect(await check(wsUrl)).toEqual({ used: null, faults: 1 });
  expect(performance.now() - startedAt).toBeLessThan(60_000);
});
