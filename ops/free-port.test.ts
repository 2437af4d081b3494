import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, it } from "vitest";
import { findFreePort, outgoingPorts } from "./free-port.ts";

const host = "127.0.0.1";

it("gives the preferred port where no outgoing connection may take it", async () => {
  const free = await findFreePort();
  expect(await findFreePort(host, free, [40_000, 50_000])).toBe(free);
});

it.each([
  ["of the system", outgoingPorts()],
  ["that begin low", [1_024, 60_999]],
  ["that begin in the middle", [20_000, 60_999]],
  ["that end high", [10_000, 65_535]],
] as const)("never gives a port of outgoing connections %s", async (_, outgoing) => {
  const [first, last] = outgoing;
  for (const preferred of [0, first, first + 1, last]) {
    const port = await findFreePort(host, preferred, outgoing);
    expect(port < first || port > last).toBe(true);
  }
});

it("gives another port than one that is taken", async () => {
  const server = createServer();
  await once(server.listen(await findFreePort(), host), "listening");
  const { port } = server.address() as AddressInfo;
  expect(await findFreePort(host, port)).not.toBe(port);
  server.close();
});
